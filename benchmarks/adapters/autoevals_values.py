"""autoevals: scorers of values."""

from __future__ import annotations

from autoevals.number import NumericDiff
from autoevals.value import ExactMatch


def exact(completion: str, answer: str) -> float:
    """Equal text."""
    return float(ExactMatch()(completion, answer).score)


def numeric(completion: str, answer: str) -> float:
    """The relative distance of two numbers."""
    return float(NumericDiff()(float(completion), float(answer)).score)
