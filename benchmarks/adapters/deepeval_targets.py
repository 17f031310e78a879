"""deepeval: normalised targets."""

from __future__ import annotations

from deepeval.scorer.scorer import Scorer


def contains(completion: str, answer: str) -> float:
    """The completion is one of the targets."""
    return float(Scorer.quasi_contains_score([answer], completion))
