"""Worlds: everything that one question is about, drawn from the seed of an evaluation.

Covered: the same words give the same world; another seed gives another text, another recipe of
models, other units and other targets, so nothing that was learnt of one world is a number of the
next. Every target costs more than a whole budget.
Not covered: what all worlds have in common (byte-free tokens, small decoders, AdamW): a submission
may know that, and does.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from unhack.tournament.kit import DataPool, content_hash
from unhack_contests.scaling.trained.world.recipe import ModelRecipe, draw_recipe
from unhack_contests.scaling.trained.world.run_settings import WIDTH_STEP, LabSettings, RunLimits
from unhack_contests.scaling.trained.world.source import (
    Array,
    TokenSource,
    code_length,
    draw_source,
    write_tokens,
)

_RATIO = (2.0, 600.0)
"""Tokens per parameter of a target."""
_MARGIN = 1.2
"""The cheapest target in budgets."""
_FAR_MIX = 0.3
"""Least distance of another mix from the usual one."""
_FAR_RATE = 1.6
"""Largest distance of another rate, in nats; a third of it is the least."""
_TRIES = 10_000


@dataclass(frozen=True, slots=True)
class WorldSize:
    """How large the runs of a world are."""

    budget: int
    """FLOPs that a submission may spend."""
    reach: float
    """The dearest target in budgets."""
    targets: int
    seeds: int
    """Runs of each target."""
    window: int
    batch: int
    """Usual windows of a step."""
    limits: RunLimits
    documents: int
    """Of each component."""
    document: int
    """Tokens of a document."""
    held: int
    """Held-out windows."""


@dataclass(frozen=True, slots=True, eq=False)
class DrawnWorld:
    """One world."""

    id: str
    size: WorldSize
    recipe: ModelRecipe
    sources: tuple[TokenSource, TokenSource]
    mix: float
    """Share of the first component in the held-out text, and the usual one in training."""
    targets: tuple[LabSettings, ...]

    def run_seed(self, settings: LabSettings) -> int:
        """The seed of a run: of initial weights and of the order of its text."""
        return int(content_hash("run", self.id, settings.key())[:15], 16)


@dataclass(frozen=True, slots=True)
class WorldText:
    """Tokens of a world, uint8."""

    components: tuple[Array, Array]
    """(documents, length) each"""
    held: Array
    """(windows, window + 1)"""
    floor: float
    """Code length of the held-out windows under their own process, nats per token."""


@lru_cache(maxsize=8)
def draw_world(size: WorldSize, *, pool: DataPool, seed: int, number: int) -> DrawnWorld:
    """World `number` of an evaluation."""
    name = content_hash("scaling world", pool.value, str(seed), str(number), repr(size))
    draw = np.random.default_rng(int(name[:30], 16))
    recipe = draw_recipe(draw, window=size.window)
    first, second = (draw_source(draw, vocabulary=recipe.vocabulary) for _ in range(2))
    mix = round(float(draw.uniform(0.25, 0.75)), 2)
    targets: list[LabSettings] = []
    while len(targets) < size.targets:
        targets.append(_target(size, recipe, draw, mix=mix, kind=len(targets)))
    return DrawnWorld(name, size, recipe, (first, second), mix, tuple(targets))


@lru_cache(maxsize=2)
def write_text(world: DrawnWorld) -> WorldText:
    """The text of a world, the same whenever it is written."""
    size = world.size
    draw = np.random.default_rng([int(world.id[:30], 16), 1])
    first, second = (
        write_tokens(source, draw, rows=size.documents, length=size.document)
        for source in world.sources
    )
    length = size.window + 1
    count = round(world.mix * size.held)
    parts: list[Array] = []
    floor = 0.0
    for source, rows in zip(world.sources, (count, size.held - count), strict=True):
        long = write_tokens(source, draw, rows=rows, length=source.lag + length)
        floor += code_length(source, long) * rows / size.held
        parts.append(long[:, source.lag :])
    return WorldText((first, second), np.concatenate(parts), floor)


def _target(
    size: WorldSize, recipe: ModelRecipe, draw: np.random.Generator, *, mix: float, kind: int
) -> LabSettings:
    """A run dearer than the budget; by `kind` in turn as usual, of another mix, rate, both."""
    (low, high), (shallow, deep) = size.limits.width, size.limits.depth
    other_mix, other_rate = kind % 2 == 1, kind % 4 >= 2
    for _ in range(_TRIES):
        cost = size.budget * float(np.exp(draw.uniform(math.log(_MARGIN), math.log(size.reach))))
        width = WIDTH_STEP * int(draw.integers(low // WIDTH_STEP, high // WIDTH_STEP + 1))
        depth = int(draw.integers(shallow, deep + 1))
        away = float(draw.uniform(_FAR_RATE / 3, _FAR_RATE)) * (1 if draw.random() < 0.5 else -1)
        share = round(float(draw.uniform(0.0, 1.0)), 2)
        if other_mix and abs(share - mix) < _FAR_MIX:
            continue
        rate = round(float(np.exp(away)), 3) if other_rate else 1.0
        share = share if other_mix else mix
        trial = LabSettings(width, depth, 1, size.batch, rate, share)
        steps = int(cost / recipe.flops(trial)) + 1
        target = LabSettings(width, depth, steps, size.batch, rate, share)
        ratio = recipe.tokens(target) / recipe.parameters(target)
        within = _RATIO[0] <= ratio <= _RATIO[1] and not size.limits.outside(target)
        if within and recipe.flops(target) > size.budget:
            return target
    raise ValueError(f"no target of {size.reach:g} budgets is within the limits of {size}")
