"""A task: a problem bound to a verifier, the runnable unit."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from unhack.core.problem import Problem
from unhack.verifiers.base import Verifier


@dataclass(frozen=True)
class Task:
    """One problem and how completions of it are judged.

    Example:

        problem = Problem("sums/two", "What is 1 + 1?", answer="2")
        task = Task(problem, TextVerifier(AnswerCheck.NUMERIC))
    """

    problem: Problem
    verifier: Verifier
    path: Path | None = None
    """The directory that it was loaded from."""

    @property
    def id(self) -> str:
        """The problem's id."""
        return self.problem.id

    @property
    def prompt(self) -> str:
        """The text that the policy reads."""
        return self.problem.prompt
