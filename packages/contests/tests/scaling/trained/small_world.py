"""Worlds that train in an instant."""

from __future__ import annotations

from unhack.tournament.contest import DataPool
from unhack_contests.scaling.trained.world.run_settings import RunLimits
from unhack_contests.scaling.trained.world.world import DrawnWorld, WorldSize, draw_world

SMALL = WorldSize(
    budget=60_000_000, reach=2.0, targets=3, seeds=2, window=16, batch=4,
    limits=RunLimits((8, 24), (1, 2), (1, 4000), (1, 16)),
    documents=128, document=64, held=64,
)  # fmt: skip


def small_world(*, pool: DataPool = DataPool.JUDGE, seed: int = 1) -> DrawnWorld:
    """A world of the smallest size."""
    return draw_world(SMALL, pool=pool, seed=seed, number=0)
