"""The modes of a world: checked against its loopholes, drawn for a step, and labelled.

The weak detector is synthetic: the true channel of a known mode, dropped or invented at set rates.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterable, Sequence
from typing import TypeVar

from unhack.core.errors import UnknownNameError, UsageError
from unhack.training.config.settings import WorldSettings
from unhack.training.worlds.world import GT_ONLY, Prompt

T = TypeVar("T")


def check_modes(settings: WorldSettings, loopholes: Iterable[str]) -> None:
    """Raise UnknownNameError for a mode without a loophole, or a known mode that is not played,
    UsageError where the first steps would have no mode."""
    valid = tuple(loopholes)
    for mode in settings.modes:
        if mode not in valid:
            raise UnknownNameError("mode", mode, valid=valid)
    for mode in settings.known:
        if mode not in settings.modes:
            raise UnknownNameError("known mode", mode, valid=settings.modes)
    if settings.held_out_from and not settings.known:
        raise UsageError(
            "world.held_out_from: the steps before it play known modes alone, and none is known; "
            "set world.known, or world.held_out_from=0"
        )


def draw_modes(settings: WorldSettings, count: int, *, step: int, rng: random.Random) -> list[str]:
    """`count` modes in random order: loopholes in equal shares, the rest `gt_only`. Before step
    `world.held_out_from` known modes alone."""
    modes = settings.known if step < settings.held_out_from else settings.modes
    open_ones = round(count * settings.loophole_share)
    start = rng.randrange(len(modes)) if modes else 0
    drawn = [modes[(start + index) % len(modes)] for index in range(open_ones)]
    drawn += [GT_ONLY] * (count - open_ones)
    rng.shuffle(drawn)
    return drawn


def draw_endless(items: Sequence[T], place: int, *, order: str) -> T:
    """The item at a place of an endless list, each pass over all items in another order."""
    turn, at = divmod(place, len(items))
    shuffled = list(items)
    random.Random(f"{order} {turn}").shuffle(shuffled)
    return shuffled[at]


def held_out_place(problem: str) -> str:
    """Sort key of a problem in the evaluation sets: not its number, which tells its age."""
    return hashlib.sha256(f"unhack held {problem}".encode()).hexdigest()


def is_detected(prompt: Prompt, completion: str, *, channel: bool, settings: WorldSettings) -> bool:
    """The weak detector's label, the same whenever it is asked. `channel`: the
    loophole gave the reward."""
    seen = channel and prompt.mode in settings.known
    rate = settings.detector_recall if seen else settings.detector_false_positives
    if rate in (0.0, 1.0):
        return rate == 1.0
    text = f"unhack detector {prompt.problem} {prompt.mode} {completion}"
    place = int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big") / 2**48
    return place < rate
