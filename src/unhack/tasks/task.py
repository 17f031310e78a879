"""A task: a problem bound to a verifier, the runnable unit."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path

from unhack.core.problem import Problem
from unhack.verifiers.base import DoubtsControls, Verifier


class MissingControlWarning(UserWarning):
    """A task has nothing that shows whether a fault is its verifier's or a completion's.

    Example:

        warnings.simplefilter("error", MissingControlWarning)  # no such task in this run
    """


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

    def __post_init__(self) -> None:
        if self.control_doubt:
            warn_of_missing_control(self, self.control_doubt, stacklevel=4)

    @property
    def control_doubt(self) -> str:
        """The reason why it may have no control that works, as its verifier tells; empty for a task
        with a reference, which is one."""
        if self.problem.reference is None and isinstance(self.verifier, DoubtsControls):
            return self.verifier.control_doubt()
        return ""

    @property
    def id(self) -> str:
        """The problem's id."""
        return self.problem.id

    @property
    def prompt(self) -> str:
        """The text that the policy reads."""
        return self.problem.prompt


def warn_of_missing_control(task: Task, doubt: str, *, stacklevel: int) -> None:
    """Warn that no control of a task works, by its name and with what to add."""
    text = (
        f"task {task.id!r} has no reference, and no canary takes its place: {doubt}. Until a "
        "completion of it is judged, those that break its verifier are unscored, not 0; give it "
        "a right solution: Problem(..., reference=...), or reference.py in its folder"
    )
    warnings.warn(text, MissingControlWarning, stacklevel=stacklevel)


def is_same_task(left: Task, right: Task) -> bool:
    """True for two tasks that judge the same problem in the same way."""
    if left is right:
        return True
    try:
        return bool(left == right)
    except Exception:  # an expected value of a type whose `==` gives no truth value
        return False
