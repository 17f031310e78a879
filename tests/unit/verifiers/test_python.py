"""A user's callable as a verifier: what it may return, and whose fault a break is."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from unhack.core.errors import UnknownNameError, UsageError
from unhack.core.problem import Problem
from unhack.core.verdict import Seal, Status, Verdict, unscored_verdict
from unhack.sandbox.pool.pool import Pool
from unhack.tasks.batch import run_batch
from unhack.tasks.task import Task
from unhack.verifiers.python import PythonVerifier

PROBLEM = Problem("p", "What is 2+3?", answer="5")


@pytest.fixture
def judge(pool: Pool) -> Callable[..., Verdict]:
    def run(function: Callable[..., Any], completion: str = "5", **fields: Any) -> Verdict:
        problem = Problem("p", "What is 2+3?", answer="5", **fields)
        task = Task(problem, PythonVerifier(function))
        return run_batch(task, [completion], backend=pool).verdicts[0]

    return run


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda problem, completion: problem.answer == completion, 1.0),
        (lambda completion, answer: completion == answer, 1.0),
        (lambda answer, completion: completion == answer, 1.0),
        (lambda completion, answer, /: completion == answer, 1.0),
        (lambda *, completion, prompt: prompt.endswith("?") and completion == "5", 1.0),
        (lambda completion, strict=True, **rest: 0.25, 0.25),
        (lambda completion: 0, 0.0),
    ],
)
def test_parameters_are_filled_by_name(
    judge: Callable[..., Verdict], function: Callable[..., Any], expected: float
) -> None:
    verdict = judge(function)
    assert verdict.score == expected
    assert verdict.passed is (expected == 1.0)
    assert verdict.seal is Seal.HOST


def test_a_verdict_is_taken_over_with_the_seal_of_the_host(judge: Callable[..., Verdict]) -> None:
    given = Verdict(Status.TIMEOUT, 0.0, "slow", seal=Seal.SEALED)
    verdict = judge(lambda completion: given)
    assert (verdict.status, verdict.reason, verdict.seal) == (Status.TIMEOUT, "slow", Seal.HOST)


@pytest.mark.parametrize(
    "value",
    [
        None,
        float("nan"),
        float("inf"),
        -0.1,
        1.1,
        2,
        "1",
        [1.0],
        1j,
        10**400,
        unscored_verdict("no"),
    ],
    ids=repr,
)
def test_a_result_that_is_no_score_is_a_fault_and_no_reward(
    judge: Callable[..., Verdict], value: Any
) -> None:
    verdict = judge(lambda completion: value)
    assert (verdict.status, verdict.score) == (Status.UNSCORED, None)


def test_a_completion_that_breaks_the_callable_scores_0(judge: Callable[..., Verdict]) -> None:
    def picky(completion: str) -> float:
        return float("nan") if "nan" in completion else 1.0 / len(completion)

    for hostile in ("nan", ""):
        verdict = judge(picky, hostile, reference="5")
        assert (verdict.status, verdict.score) == (Status.ERROR, 0.0)
    verdict = judge(picky, "nan")
    assert (verdict.status, verdict.score) == (Status.ERROR, 0.0)


@pytest.mark.parametrize("error", [ValueError("x"), KeyboardInterrupt(), SystemExit(0)], ids=repr)
def test_a_callable_that_always_raises_leaves_the_item_unscored(
    judge: Callable[..., Verdict], error: BaseException
) -> None:
    def broken(completion: str) -> float:
        raise error

    verdict = judge(broken)
    assert verdict.status is Status.UNSCORED
    assert type(error).__name__ in verdict.reason


def test_the_callable_never_runs_on_the_thread_of_the_pool(judge: Callable[..., Verdict]) -> None:
    names: list[str] = []

    def note(completion: str) -> bool:
        names.append(threading.current_thread().name)
        return True

    judge(note)
    assert len(names) == 1
    assert "pool" not in names[0]


def test_a_parameter_that_cannot_be_filled_is_an_error_with_the_nearest_name() -> None:
    with pytest.raises(UnknownNameError, match="did you mean completion"):
        PythonVerifier(lambda completions: True)


async def _coroutine(completion: str) -> bool:
    return True


@pytest.mark.parametrize(
    ("function", "words"),
    [(lambda answer: True, "no parameter named completion"), (_coroutine, "coroutine"), (5, "int")],
)
def test_a_callable_that_cannot_judge_is_refused_at_once(function: Any, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        PythonVerifier(function)
