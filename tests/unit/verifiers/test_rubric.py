"""Weighted criteria: the mean, the gates, and what propagates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unhack.core.errors import UsageError
from unhack.core.problem import Problem
from unhack.core.verdict import Seal, Status, Usage, Verdict, unscored_verdict
from unhack.sandbox.pool.pool import Pool
from unhack.tasks.batch import run_batch
from unhack.tasks.task import Task
from unhack.verifiers.base import Steps, VerifierFault
from unhack.verifiers.function import Case, FunctionVerifier
from unhack.verifiers.python import PythonVerifier
from unhack.verifiers.rubric import Criterion, RubricVerifier
from unhack.verifiers.text import AnswerCheck, TextVerifier

PROBLEM = Problem("p", "prompt", answer="5")
SCORES = st.floats(0.0, 1.0)
WEIGHTS = st.floats(1e-6, 1e6)


@dataclass(frozen=True)
class Fixed:
    """A verifier that gives one verdict, whatever the completion."""

    verdict: Verdict = field(default_factory=lambda: Verdict(Status.PASSED, 1.0))
    fault: str = ""

    @property
    def kind(self) -> str:
        return "fixed"

    def verify(self, problem: Problem, completion: str) -> Steps:
        if self.fault:
            raise VerifierFault(self.fault)
        return self.verdict
        yield []

    def canary(self) -> str:
        return ""


def fixed(score: float, **fields: Any) -> Fixed:
    status = Status.PASSED if score == 1.0 else Status.FAILED
    return Fixed(Verdict(status, score, "" if score == 1.0 else "bad", **fields))


def judge(*criteria: Criterion) -> Verdict:
    steps = RubricVerifier(criteria).verify(PROBLEM, "text")
    with pytest.raises(StopIteration) as stop:
        next(steps)
    return stop.value.value


@pytest.mark.slow
@given(st.lists(st.tuples(SCORES, WEIGHTS), min_size=1, max_size=6))
def test_the_score_is_the_weighted_mean(parts: list[tuple[float, float]]) -> None:
    criteria = [
        Criterion(str(index), fixed(score), weight) for index, (score, weight) in enumerate(parts)
    ]
    verdict = judge(*criteria)
    mean = sum(score * weight for score, weight in parts) / sum(weight for _, weight in parts)
    assert verdict.score == pytest.approx(mean, rel=1e-9)
    assert verdict.passed is all(score == 1.0 for score, _ in parts) is (verdict.score == 1.0)


def test_a_tiny_weight_still_keeps_a_failure_below_the_full_score() -> None:
    verdict = judge(Criterion("a", fixed(1.0), 1e300), Criterion("b", fixed(0.0), 1e-300))
    assert verdict.score is not None
    assert verdict.score < 1.0
    assert verdict.status is Status.FAILED


def test_a_failed_gate_makes_the_score_0_and_is_the_reason() -> None:
    verdict = judge(
        Criterion("style", fixed(0.5)),
        Criterion("tests", fixed(0.9), gate=True),
        Criterion("other", fixed(1.0), 100.0),
    )
    assert verdict.score == 0.0
    assert verdict.reason == "gate tests: bad"


def test_a_passed_gate_counts_by_its_weight() -> None:
    verdict = judge(Criterion("a", fixed(1.0), 3.0, gate=True), Criterion("b", fixed(0.0)))
    assert verdict.score == 0.75
    assert verdict.reason == "criterion b: bad"


def test_details_hold_each_criterion_also_after_a_failed_gate() -> None:
    verdict = judge(Criterion("a", fixed(0.0), gate=True), Criterion("b", fixed(0.5), 2.0))
    found = verdict.details["criteria"]
    assert {name: item["score"] for name, item in found.items()} == {"a": 0.0, "b": 0.5}
    assert found["a"]["gate"] is True
    assert found["b"]["weight"] == 2.0
    assert [case.score for case in verdict.cases] == [0.0, 0.5]


def test_a_fault_of_one_criterion_is_a_fault_of_the_rubric() -> None:
    for broken in (Fixed(fault="no"), Fixed(unscored_verdict("no"))):
        rubric = RubricVerifier([Criterion("a", fixed(1.0)), Criterion("b", broken)])
        with pytest.raises(VerifierFault, match="no"):
            next(rubric.verify(PROBLEM, "text"))


def test_the_verdict_is_as_sealed_as_its_weakest_part() -> None:
    seals = [Seal.TEXT, Seal.SEALED, Seal.AS_WRITTEN, Seal.HOST]
    for count in range(1, 5):
        parts = [Criterion(seal, fixed(1.0, seal=seal)) for seal in seals[:count]]
        assert judge(*parts).seal is seals[count - 1]


def test_the_isolation_is_the_weakest_of_the_parts_that_ran() -> None:
    ran = fixed(1.0, isolation="namespaces", usage=Usage(wall_s=1.0, cpu_s=1.0))
    weak = fixed(1.0, isolation="landlock", usage=Usage(wall_s=0.5))
    text = fixed(1.0, seal=Seal.TEXT)
    verdict = judge(Criterion("a", ran), Criterion("b", weak), Criterion("c", text))
    assert verdict.isolation == "landlock"
    assert verdict.usage.wall_s == 1.5
    assert judge(Criterion("c", text)).isolation == "none"
    assert judge(Criterion("a", ran), Criterion("d", fixed(1.0, usage=Usage(1.0)))).isolation == (
        "none"
    )


@pytest.mark.parametrize("weight", [0.0, -1.0, float("nan"), float("inf")])
def test_a_weight_that_is_not_positive_is_refused(weight: float) -> None:
    with pytest.raises(UsageError, match="weight of criterion 'a'"):
        Criterion("a", fixed(1.0), weight)


def test_an_empty_rubric_and_a_repeated_name_are_refused() -> None:
    with pytest.raises(UsageError, match="at least one"):
        RubricVerifier([])
    with pytest.raises(UsageError, match="two criteria are named 'a'"):
        RubricVerifier([Criterion("a", fixed(1.0)), Criterion("a", fixed(0.0))])
    with pytest.raises(UsageError, match="needs a name"):
        Criterion(" ", fixed(1.0))


@pytest.fixture
def mixed() -> RubricVerifier:
    """One criterion of each way of judging: text, sandbox, host."""
    return RubricVerifier(
        [
            Criterion("answer", TextVerifier(AnswerCheck.NUMERIC), gate=True),
            Criterion("code", FunctionVerifier("f", (Case((2,), {}, 4),)), 2.0),
            Criterion("short", PythonVerifier(lambda completion: len(completion) < 100)),
        ]
    )


@pytest.mark.parametrize(
    ("completion", "score"),
    [
        ("\\boxed{5}\n```python\ndef f(x): return x * x\n```", 1.0),
        ("\\boxed{5}\n```python\ndef f(x): return 0\n```", 0.5),
        ("\\boxed{6}\n```python\ndef f(x): return x * x\n```", 0.0),
        ("", 0.0),
    ],
)
def test_parts_of_all_kinds_are_judged_one_after_the_other(
    pool: Pool, mixed: RubricVerifier, completion: str, score: float
) -> None:
    [verdict] = run_batch(Task(PROBLEM, mixed), [completion], backend=pool).verdicts
    assert verdict.score == score
    assert list(verdict.details["criteria"]) == ["answer", "code", "short"]
    assert verdict.seal is Seal.HOST


def test_a_completion_that_breaks_one_criterion_scores_0(pool: Pool) -> None:
    def fragile(completion: str) -> Callable[..., Any] | bool:
        return bool(1 / len(completion))

    rubric = RubricVerifier(
        [Criterion("a", TextVerifier(AnswerCheck.EXACT)), Criterion("b", PythonVerifier(fragile))]
    )
    [verdict] = run_batch(Task(PROBLEM, rubric), [""], backend=pool).verdicts
    assert (verdict.status, verdict.score) == (Status.ERROR, 0.0)
