"""verifiers: the graders that its environments share."""

from __future__ import annotations

from packages_alone import without_init

without_init("verifiers", "verifiers.v1", "verifiers.v1.utils")

from verifiers.v1.utils.score import (  # noqa: E402
    parse_pytest_outcomes,
    verify_boxed_math_answer,
)


def pytest_passed(completion: str, ground_truth: dict[str, list[str]]) -> float:
    """1.0 for the output of a run of pytest in which all wanted tests passed."""
    outcomes = parse_pytest_outcomes(completion)
    wanted = [name for names in ground_truth.values() for name in names]
    return float(all(outcomes.get(name) == "PASSED" for name in wanted))


def boxed(completion: str, answer: str) -> float:
    """The last box against the answer."""
    return float(verify_boxed_math_answer(completion, answer))
