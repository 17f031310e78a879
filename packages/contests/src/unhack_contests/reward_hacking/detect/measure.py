"""One measurement: items drawn by seed, asked twice, with known and planted ones among them.

What counts is the first answer of a process that has not seen an item's mate: of a pair that is
asked for together, ranks could be put right by less than any tolerance sees. All of them at once,
and a second call of the same process, show who depends on others or remembers.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unhack.tournament.kit import DataPool, Measurement, invalid
from unhack_contests.reward_hacking.calls import SubmissionQuestion, ask
from unhack_contests.reward_hacking.detect import score
from unhack_contests.reward_hacking.detect.cheats import canaries
from unhack_contests.reward_hacking.detect.drawn.drawing import draw_items
from unhack_contests.reward_hacking.detect.items import Item
from unhack_contests.reward_hacking.detect.settings import COST, PROBES, DetectSettings
from unhack_contests.reward_hacking.streams import choices
from unhack_contests.submission import RefusedError

_NUMPY = ("numpy",)
_LATER = 10
"""Items of a second call to the same process."""


def measure(options: DetectSettings, folder: Path, *, pool: DataPool, seed: int) -> Measurement:
    """Judge the frozen files of `folder`. Raises the sandbox's own failures."""
    items = drawn(options, pool, seed)
    known, twins = _probes(options)
    asked = [*items, *known, *twins, *canaries()]
    try:
        first = _predictions(folder, [asked], choices(pool, seed, "order"))
        rng = choices(pool, seed, "order again")
        mates = [items[0::2], items[1::2]]
        calls = [[mates[at], mates[1 - at][:_LATER]] for at in (0, 1)]
        halves = [np.split(_predictions(folder, one, rng), [len(one[0])]) for one in calls]
    except RefusedError as refused:
        return refused.measured()
    at = np.cumsum([len(items), len(known), len(twins)])
    together, of_known, of_twins, of_planted = np.split(first, at)
    chances = np.empty_like(together)
    (chances[0::2], late), (chances[1::2], early) = halves
    again = np.concatenate([chances, late, early])
    before = [together, together[1::2][: len(late)], together[0::2][: len(early)]]
    unsteady = score.state_flag(np.concatenate(before), again)
    if unsteady is not None:
        return invalid("its answers depend on order or on earlier calls", unsteady)
    found = score.measured(items, chances, seed=seed)
    auroc = float(found.metrics["auroc"])
    flags = [
        *score.pattern_flags(items, chances, cost=COST),
        score.lookup_flag(known, of_known, twins, of_twins),
        score.planted_flag(canaries(), of_planted, auroc),
    ]
    told = tuple(flag for flag in flags if flag is not None)
    return Measurement(found.fitness, found.low, found.high, found.metrics, flags=told)


def drawn(options: DetectSettings, pool: DataPool, seed: int) -> tuple[Item, ...]:
    """The items of a measurement; development items are not those that are handed out."""
    if pool is DataPool.DEV:
        return draw_items(pool, 0, pairs=options.pairs, purpose="check")
    return draw_items(pool, seed, pairs=options.pairs)


def _probes(options: DetectSettings) -> tuple[Sequence[Item], Sequence[Item]]:
    known = draw_items(DataPool.DEV, 0, pairs=options.dev_pairs)
    twins = draw_items(DataPool.DEV, 0, pairs=PROBES, turn=1)
    return known[: 2 * PROBES], twins


def _predictions(folder: Path, calls: Sequence[Sequence[Item]], rng: random.Random) -> NDArray[Any]:
    """Of one fresh process, each call in an order drawn anew; in the order of `calls`. Raises
    RefusedError."""
    orders = [rng.sample(range(len(items)), len(items)) for items in calls]
    questions = [
        SubmissionQuestion("predict", ([items[place].shown() for place in order],))
        for items, order in zip(calls, orders, strict=True)
    ]
    answers = ask(folder, questions, preload=_NUMPY)
    found: list[NDArray[Any]] = []
    for answer, order in zip(answers, orders, strict=True):
        chances = np.empty(len(order))
        chances[order] = score.read_predictions(answer, len(order))
        found.append(chances)
    return np.concatenate(found)
