"""The modes of a world: checked against its loopholes, and drawn for a step."""

from __future__ import annotations

import random
from collections.abc import Iterable

from unhack.core.errors import UnknownNameError
from unhack.training.config.settings import WorldSettings
from unhack.training.worlds.world import GT_ONLY


def check_modes(settings: WorldSettings, loopholes: Iterable[str]) -> None:
    """Raise UnknownNameError for a mode without a loophole, or a known mode that is not played."""
    valid = tuple(loopholes)
    for mode in settings.modes:
        if mode not in valid:
            raise UnknownNameError("mode", mode, valid=valid)
    for mode in settings.known:
        if mode not in settings.modes:
            raise UnknownNameError("known mode", mode, valid=settings.modes)


def draw_modes(settings: WorldSettings, count: int, *, rng: random.Random) -> list[str]:
    """`count` modes in random order: loopholes in equal shares, the rest `gt_only`."""
    modes = settings.modes
    open_ones = round(count * settings.loophole_share)
    start = rng.randrange(len(modes)) if modes else 0
    drawn = [modes[(start + index) % len(modes)] for index in range(open_ones)]
    drawn += [GT_ONLY] * (count - open_ones)
    rng.shuffle(drawn)
    return drawn
