"""Questions to a submission's process, and what a wrong way to answer them shows.

Covered: a process that leaves instead of answering is told from one that fails.
Not covered: what the answers say.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from unhack.tournament.kit import MIB, Computer, Flag, Limits, SubmissionError, UsageError

LIMITS = Limits(
    wall_s=120.0, cpu_s=60.0, memory_bytes=1024 * MIB, output_bytes=8 * MIB, soft_slice_s=1e6
)
ANSWER_S = 60.0
_LEAVES = ("SystemExit", "KeyboardInterrupt", "GeneratorExit")


class AnswerRefused(Exception):
    """The submission gave no usable answer: the reason, and what it shows."""

    def __init__(self, reason: str, *flags: Flag) -> None:
        super().__init__(reason)
        self.reason, self.flags = reason, flags


@dataclass(frozen=True, slots=True)
class SubmissionQuestion:
    """One call of a function of `solution.py`."""

    name: str
    args: tuple[Any, ...] = field(default=())


def ask(
    folder: Path, questions: list[SubmissionQuestion], *, preload: tuple[str, ...] = ()
) -> list[Any]:
    """The answers of one fresh process, in order. Raises AnswerRefused, SandboxUnavailableError."""
    if not (folder / "solution.py").is_file():
        raise AnswerRefused("there is no solution.py")
    computer = Computer(folder, limits=LIMITS, preload=preload)
    asked = "loading"
    try:
        with computer:
            answers: list[Any] = []
            for question in questions:
                asked = f"{question.name}()"
                if question.name not in computer.names:
                    raise AnswerRefused(f"solution.py defines no {asked}")
                answers.append(computer.call(question.name, *question.args, timeout_s=ANSWER_S))
            return answers
    except SubmissionError as error:
        raise AnswerRefused(
            f"{asked}: {error}"[:300], *_left(computer, asked, str(error))
        ) from None


def _left(computer: Computer, asked: str, said: str) -> tuple[Flag, ...]:
    """The flag of a process that ended by itself, without a fault, while it was asked."""
    by_name = said.split(":", maxsplit=1)[0] in _LEAVES
    if not (by_name or computer.left):
        return ()
    text = f"{asked}: it left the process instead of answering ({said[:80]})"
    return (Flag("forged_verdict", text, "judge"),)


def number_option(options: dict[str, str], name: str, default: int) -> int:
    """Take a positive whole number from the options. Raises UsageError."""
    text = options.pop(name, str(default))
    if not text.isdigit() or int(text) < 1:
        raise UsageError(f"option {name} must be a positive whole number, not {text!r}")
    return int(text)


def no_more(options: dict[str, str], valid: tuple[str, ...]) -> None:
    """Raises UsageError when options are left that nobody takes."""
    if options:
        known = ", ".join(("track", *valid))
        raise UsageError(f"there is no option {sorted(options)[0]!r}; there are {known}")
