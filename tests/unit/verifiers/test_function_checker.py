"""Checkers: trusted code that judges outputs, and what happens when it breaks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from unhack.core.problem import Problem
from unhack.core.verdict import Status, Verdict
from unhack.sandbox.job import Ending, Outcome
from unhack.sandbox.limits import Limits
from unhack.sandbox.pool.pool import Pool
from unhack.tasks.batch import run_batch
from unhack.tasks.task import Task
from unhack.verifiers.base import VerifierFault
from unhack.verifiers.function import Case, FunctionVerifier
from unhack.verifiers.jobs import read_checks

Score = Callable[..., Verdict]
AMPLE = Limits(wall_s=20.0, cpu_s=20.0)
QUICK = AMPLE.with_(wall_s=1.0)
"""For a checker that never ends; the reference has to pass in it."""


def doubles(**options: Any) -> FunctionVerifier:
    """f must double 1, 2, 3 and 4."""
    cases = tuple(Case((number,), expected=2 * number) for number in (1, 2, 3, 4))
    settings: dict[str, Any] = {"limits": AMPLE, **options}
    return FunctionVerifier("f", cases, **settings)


class TestReadChecks:
    def _outcome(self, text: str, **fields: Any) -> Outcome:
        settings: dict[str, Any] = {"ending": Ending.EXITED, "result": text.encode(), **fields}
        return Outcome(**settings)

    def test_answers_come_in_the_order_that_was_asked(self) -> None:
        outcome = self._outcome('[3,false,0.5,"half"]\n[1,true,1.0,""]\n')
        assert read_checks(outcome, [1, 3]) == [(1, True, 1.0, ""), (3, False, 0.5, "half")]

    @pytest.mark.parametrize(
        ("text", "fields"),
        [
            ("", {}),
            ('[1,true,1.0,""]\n', {}),
            ('[null,"raised","E"]\n', {}),
            ("", {"ending": Ending.BROKEN}),
            ("", {"ending": Ending.LIMIT, "limit": "wall"}),
            ("", {"ending": Ending.SIGNALED, "signal": 11}),
        ],
    )
    def test_a_checker_that_did_not_answer_is_a_fault(
        self, text: str, fields: dict[str, Any]
    ) -> None:
        with pytest.raises(VerifierFault):
            read_checks(self._outcome(text, **fields), [1, 2])


class TestChecker:
    CHECK = "def check(args, kwargs, output, expected):\n    return {}\n"

    def _verifier(self, expression: str, **options: Any) -> FunctionVerifier:
        return doubles(checker=self.CHECK.format(expression), **options)

    def test_the_checker_sees_arguments_output_and_expected_value(self, score: Score) -> None:
        verifier = self._verifier("output == -expected and args == [expected // 2] and not kwargs")
        assert score(verifier, "def f(x): return -2 * x").passed
        assert score(verifier, "def f(x): return 2 * x").status is Status.FAILED

    def test_a_partial_score_counts_with_partial_credit_only(self, score: Score) -> None:
        source = "def f(x): return x"
        verdict = score(self._verifier("0.5", partial_credit=True), source)
        assert (verdict.score, verdict.status) == (0.5, Status.FAILED)
        assert verdict.reason == "case 1 of 4: rejected by the checker"
        assert score(self._verifier("0.5"), source).score == 0.0

    def test_what_raised_or_never_answered_does_not_reach_the_checker(self, score: Score) -> None:
        verifier = self._verifier("True", partial_credit=True)
        source = (
            "import os\ndef f(x):\n    if x == 1: raise ValueError\n    if x == 3: os._exit(0)\n"
        )
        verdict = score(verifier, source)
        assert [case.passed for case in verdict.cases] == [False, True, False, False]

    def test_values_of_subclasses_arrive_as_builtins(self, score: Score) -> None:
        verifier = self._verifier("type(output) is int")
        source = "class Mine(int):\n    __eq__ = lambda *a: True\ndef f(x): return Mine(x)\n"
        assert score(verifier, source).passed

    def test_a_completion_that_breaks_the_checker_scores_zero(self, score: Score) -> None:
        verifier = self._verifier("output + 1 == expected + 1")
        verdict = score(verifier, "def f(x): return 'text'", reference="def f(x): return 2 * x")
        assert (verdict.status, verdict.score) == (Status.ERROR, 0.0)
        assert "TypeError" in verdict.reason

    @pytest.mark.parametrize("expression", ["1 / 0", "'yes'", "None", "2", "-0.5", "float('nan')"])
    def test_a_checker_that_cannot_judge_the_reference_leaves_it_unscored(
        self, score: Score, expression: str
    ) -> None:
        completion = "def f(x): return 2 * x"
        verdict = score(self._verifier(expression), completion, reference=completion)
        assert (verdict.status, verdict.score) == (Status.UNSCORED, None)
        assert "the control" in verdict.reason

    def test_a_checker_that_rejects_the_reference_leaves_faults_unscored(
        self, score: Score
    ) -> None:
        verifier = self._verifier("len(output) > 100")
        verdict = score(verifier, "def f(x): return 5", reference="def f(x): return 'abc'")
        assert verdict.status is Status.UNSCORED

    @pytest.mark.slow
    def test_a_checker_that_does_not_load_leaves_everything_unscored(self, score: Score) -> None:
        for source in ("def check(", "x = 1", "1 / 0"):
            verifier = doubles(checker=source)
            assert score(verifier, "def f(x): return x").status is Status.UNSCORED

    def test_without_a_reference_a_checked_canary_is_the_control(self, score: Score) -> None:
        verifier = self._verifier("False if output is None else output + 1 == 3")
        assert score(verifier, "def f(x): return 'text'").score == 0.0

    @pytest.mark.slow
    def test_a_checker_that_loops_for_one_answer_costs_that_completion(self, score: Score) -> None:
        check = (
            "def check(args, kwargs, output, expected):\n"
            "    while output == 'trap': pass\n    return output == expected\n"
        )
        verifier = doubles(checker=check, limits=QUICK)
        reference = "def f(x): return 2 * x"
        assert score(verifier, "def f(x): return 'trap'", reference=reference).score == 0.0

    def test_a_checker_never_sees_the_next_completion(self, pool: Pool) -> None:
        check = (
            "seen = []\ndef check(args, kwargs, output, expected):\n"
            "    seen.append(output)\n    return len(seen) <= 4\n"
        )
        task = Task(Problem("p", ""), doubles(checker=check))
        completions = [f"def f(x): return {number}" for number in range(5)]
        assert all(
            verdict.passed for verdict in run_batch(task, completions, backend=pool).verdicts
        )
