"""Potential-based shaping: process rewards that change no ranking of policies.

A potential Φ(s) in [0, 1] says how far a judged state has come, such as the share of a task's dev
tests that pass. Turn t is rewarded F_t = γ Φ(s_{t+1}) - Φ(s_t), and Φ counts as 0 where an episode
ends. Then Σ γ^t F_t = -Φ(s_0), the same for every policy, so the best policy stays the best and
expected policy gradients stay as they are (Ng, Harada, Russell 1999; for episodes Grześ 2017).

Covered: every end takes the potential back, an end by a limit too. Left unrewarded there, the best
policy of a random decision process is kept in a quarter to a third of the cases (tests).
Not covered: γ must be that of the returns; normalised, clipped or upward-only rewards are another
objective. `newly_passing` is such a reward, kept for comparison.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from unhack.core.errors import UsageError


def check_weight(weight: float, name: str) -> None:
    """Raise UsageError for the weight of a reward that is negative or not finite."""
    if not (math.isfinite(weight) and weight >= 0):
        raise UsageError(f"the weight of {name} is {weight}, no number from 0 on")


def shaping_reward(before: float, after: float, *, gamma: float = 1.0, ended: bool) -> float:
    """F of one turn from the potentials of the states around it.

    `ended`: the turn is the last one, for whatever reason: handed in, given up, cut by a limit.
    """
    return (0.0 if ended else gamma * after) - before


def shaped(potentials: Sequence[float], *, gamma: float = 1.0) -> list[float]:
    """F of every turn of a whole episode, [T], from the potentials of its states, [T + 1].

    The last potential is that of the state as it was left; it is taken back, so it does not matter.
    Raises UsageError for fewer than two states.
    """
    _check(potentials)
    last = len(potentials) - 2
    return [
        shaping_reward(before, after, gamma=gamma, ended=turn == last)
        for turn, (before, after) in enumerate(pairwise(potentials))
    ]


def newly_passing(potentials: Sequence[float]) -> list[float]:
    """max(0, Φ(s_{t+1}) - Φ(s_t)) of every turn, [T]: rewarded upwards only and never taken back.

    A naive step reward, which breaking and fixing the same thing pumps without end. Raises
    UsageError for fewer than two states.
    """
    _check(potentials)
    return [max(0.0, after - before) for before, after in pairwise(potentials)]


def _check(potentials: Sequence[float]) -> None:
    if len(potentials) < 2:
        raise UsageError(
            f"an episode has a state before and after each turn: at least two potentials, "
            f"not {len(potentials)}"
        )
