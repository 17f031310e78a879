"""The reward of a verdict: the number that the optimiser sees. Nothing else derives a reward."""

from __future__ import annotations

from unhack.core.verdict import Verdict


def reward_of(verdict: Verdict) -> float | None:
    """The score, in [0, 1]; None for an unscored verdict, which must stay out of every baseline."""
    return verdict.score
