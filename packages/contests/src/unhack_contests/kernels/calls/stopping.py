"""When enough pairs of calls have been made.

Two equal programs, the reference and its twin, are looked at after the least number of pairs, and
again after a quarter more each time, until the 95 % interval of their difference lies within
`MOST_ERROR`. The times of the submission are never looked at.

So the end of a measurement brings no bias into a fitness. Turn the reference and its twin around
and the end is the same; the noise of the reference's own times is then as often for as against it,
given where the measurement ended. What a submission does to the card can make the end come later,
not choose it by what its own times are. Few looks, and an interval that has to include the distance
from 0, keep the interval of the control honest, too (`benchmarks/gpu_noise.py`).

Covered: the rule.
Not covered: the time that is left, which bounds it (see `gpu.judge`).
"""

from __future__ import annotations

import math

MOST_ERROR = 0.02
"""By which two equal programs may seem to differ."""
_GROWTH = 1.25


class Looks:
    """The numbers of pairs after which to look."""

    def __init__(self, least: int) -> None:
        self._next = least

    def due(self, pairs: int) -> bool:
        """Tell whether to look after so many pairs of each group; the next look is later."""
        if pairs < self._next:
            return False
        self._next = math.ceil(pairs * _GROWTH)
        return True


def close_enough(equal: float, half: float) -> bool:
    """Tell whether a difference (log2) and half of its 95 % interval lie within `MOST_ERROR`."""
    return 2.0 ** (abs(equal) + half) - 1 <= MOST_ERROR
