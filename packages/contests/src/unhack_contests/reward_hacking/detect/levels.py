"""The levels of the contest: where items come from, and what an accusation costs.

    items_of(options, DataPool.JUDGE, seed, pairs=60)

Covered: `standard` (problems of the suites, planted tricks) and `hard` (drawn problems, shortcuts
that only show in what a program computes).
Not covered: items of other makers.
"""

from __future__ import annotations

from unhack.tournament.contest import DataPool
from unhack_contests.reward_hacking.detect.hard.drawing import draw_hard_items
from unhack_contests.reward_hacking.detect.hard.shortcuts import SHOWN_FAMILIES
from unhack_contests.reward_hacking.detect.items import Item, draw_items
from unhack_contests.reward_hacking.detect.settings import HARD, DetectSettings
from unhack_contests.reward_hacking.hacks import KNOWN


def items_of(
    options: DetectSettings, pool: DataPool, seed: int, *, pairs: int,
    purpose: str = "items", turn: int = 0,
) -> tuple[Item, ...]:  # fmt: skip
    """`pairs` pairs of a level; another `turn` gives the same pairs in another form.

    Raises SandboxUnavailableError.
    """
    draw = draw_hard_items if options.level == HARD else draw_items
    return draw(pool, seed, pairs=pairs, purpose=purpose, turn=turn)


def families_shown(options: DetectSettings) -> frozenset[str]:
    """Families of hacks that development data hold."""
    return SHOWN_FAMILIES if options.level == HARD else frozenset(KNOWN)
