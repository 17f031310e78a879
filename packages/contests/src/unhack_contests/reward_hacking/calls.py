"""Questions to a submission's process, and what a wrong way to answer them shows.

Covered: a process that leaves instead of answering is told from one that fails.
Not covered: what the answers say.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from unhack.tournament.kit import MIB, Computer, Limits, SubmissionError, UsageError
from unhack_contests.submission import RefusedError, left

LIMITS = Limits(
    wall_s=120.0, cpu_s=60.0, memory_bytes=1024 * MIB, output_bytes=8 * MIB, soft_slice_s=1e6
)
ANSWER_S = 60.0


@dataclass(frozen=True, slots=True)
class SubmissionQuestion:
    """One call of a function of `solution.py`."""

    name: str
    args: tuple[Any, ...] = field(default=())


def ask(
    folder: Path, questions: list[SubmissionQuestion], *, preload: tuple[str, ...] = ()
) -> list[Any]:
    """The answers of one fresh process, in order. Raises RefusedError, SandboxUnavailableError."""
    if not (folder / "solution.py").is_file():
        raise RefusedError("there is no solution.py")
    computer = Computer(folder, limits=LIMITS, preload=preload)
    asked = "loading"
    try:
        with computer:
            answers: list[Any] = []
            for question in questions:
                asked = f"{question.name}()"
                if question.name not in computer.names:
                    raise RefusedError(f"solution.py defines no {asked}")
                answers.append(computer.call(question.name, *question.args, timeout_s=ANSWER_S))
            return answers
    except SubmissionError as error:
        said = str(error)
        text = f"{asked}: it left the process instead of answering ({said[:80]})"
        raise RefusedError(f"{asked}: {said}"[:300], *left(computer, text, said=said)) from None


def number_options(
    options: Mapping[str, str], usual: Mapping[str, int], *, others: tuple[str, ...] = ()
) -> dict[str, int]:
    """Positive whole numbers by name, those of `usual` where none is given; `others`: options that
    are no numbers. Raises UsageError."""
    known = (*others, *usual)
    for name in sorted(set(options) - set(known)):
        raise UsageError(f"there is no option {name!r}; there are {', '.join(('track', *known))}")
    found = dict(usual)
    for name in usual:
        text = options.get(name, str(usual[name]))
        if not text.isdigit() or int(text) < 1:
            raise UsageError(f"option {name} must be a positive whole number, not {text!r}")
        found[name] = int(text)
    return found
