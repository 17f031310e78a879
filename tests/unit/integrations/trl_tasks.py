"""Tasks for the tests of the integrations: a flawed and a strict one for the same question."""

from __future__ import annotations

from unhack import Problem, PythonVerifier, Task


def mentions(completion: str, answer: str) -> bool:
    """Flawed: the answer may stand anywhere."""
    return answer in completion


def equals(completion: str, answer: str) -> bool:
    """Strict."""
    return completion.strip() == answer


def broken(completion: str) -> float:
    """Breaks on everything, so nothing can be scored."""
    raise RuntimeError("no")


def task(verify: object, answer: str, *, name: str = "sum") -> Task:
    """A task judged by a function of this module."""
    return Task(Problem(name, f"Say {answer}.", answer=answer), PythonVerifier(verify))  # type: ignore[arg-type]
