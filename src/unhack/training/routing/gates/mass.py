"""Handing a recorded routed mass to the active rollouts of another run.

The number of active rollouts differs between runs. The mass is what is matched:

- as many or more of them: each gets one of the recorded fractions, the rest 0;
- fewer: the largest recorded fractions are used, and what the others held is spread over the room
  that is left below 1, in proportion to it. Where even f = 1 everywhere is too little, the missing
  mass is reported.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from unhack.training.routing.split import RecordedStep


@dataclass(frozen=True, slots=True)
class Portions:
    """Fractions for a number of rollouts, falling, and the mass that found no room."""

    fractions: tuple[float, ...]
    missing: float

    def log(self, recorded: RecordedStep) -> dict[str, float]:
        """Log of the arm: the recorded mass and count, and the shortfall."""
        return {
            "recorded_mass": recorded.mass,
            "recorded_active": float(recorded.active),
            "missing_mass": self.missing,
        }


def portions(recorded: RecordedStep, *, count: int) -> Portions:
    """`count` fractions whose sum is the recorded mass, as far as it fits."""
    falling = list(recorded.fractions)
    given = (falling + [0.0] * count)[:count]
    over = math.fsum(falling[count:])
    room = math.fsum(1.0 - value for value in given)
    if over <= 0.0:
        return Portions(tuple(given), 0.0)
    if over >= room:
        return Portions((1.0,) * count, over - room)
    return Portions(tuple(value + (1.0 - value) * over / room for value in given), 0.0)


def mix_seed(*parts: int) -> int:
    """One seed of several numbers."""
    seed = 0
    for part in parts:
        seed = (seed * 1_000_003 + part + 1) % (1 << 63)
    return seed
