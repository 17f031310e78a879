"""The immutable question."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Problem:
    """A question to a policy, with the reference data that it must never see.

    Example:

        Problem("sums/two", "What is 1 + 1?", answer="2", meta={"difficulty": "easy"})
    """

    id: str
    """Unique within a suite."""
    prompt: str
    """The text that the policy reads."""
    reference: str | None = None
    """A completion known to be correct; the control run of rule 2 uses it."""
    answer: str | None = None
    """The secret answer of a text problem."""
    meta: dict[str, Any] = field(default_factory=dict[str, Any])
    """Title, difficulty, tags: for people and for filters."""
