from __future__ import annotations

import dataclasses
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unhack.core.verdict import CaseResult, Seal, Status, Usage, Verdict, unscored_verdict

SCORED = [status for status in Status if status is not Status.UNSCORED]


class TestInvariants:
    @given(st.floats())
    def test_a_score_lies_in_the_unit_interval_or_is_refused(self, score: float) -> None:
        if 0.0 <= score <= 1.0:
            assert Verdict(Status.FAILED, score).score == score
        else:
            with pytest.raises(ValueError, match="must lie in"):
                Verdict(Status.FAILED, score)

    def test_nan_is_no_score(self) -> None:
        with pytest.raises(ValueError, match="must lie in"):
            Verdict(Status.PASSED, math.nan)

    @pytest.mark.parametrize("status", SCORED)
    def test_every_other_status_needs_a_score(self, status: Status) -> None:
        with pytest.raises(ValueError, match="exactly when"):
            Verdict(status, None)
        assert Verdict(status, 0.0).scored

    def test_unscored_never_carries_a_score(self) -> None:
        with pytest.raises(ValueError, match="exactly when"):
            Verdict(Status.UNSCORED, 0.0)
        verdict = unscored_verdict("the checker broke", isolation="landlock")
        assert verdict.score is None
        assert not verdict.scored
        assert (verdict.reason, verdict.isolation) == ("the checker broke", "landlock")

    @pytest.mark.parametrize("status", SCORED)
    def test_passed_is_the_status_not_the_score(self, status: Status) -> None:
        assert Verdict(status, 1.0).passed is (status is Status.PASSED)

    def test_a_verdict_cannot_be_changed(self) -> None:
        verdict = Verdict(Status.FAILED, 0.0)
        with pytest.raises(dataclasses.FrozenInstanceError):
            verdict.score = 1.0  # type: ignore[misc]

    def test_verdicts_do_not_share_details(self) -> None:
        first, second = Verdict(Status.FAILED, 0.0), Verdict(Status.FAILED, 0.0)
        first.details["x"] = 1
        assert second.details == {}

    def test_a_verdict_is_sealed_unless_it_says_otherwise(self) -> None:
        assert Verdict(Status.PASSED, 1.0).seal is Seal.SEALED


class TestCredit:
    def test_a_case_without_partial_credit_counts_one_or_nothing(self) -> None:
        assert CaseResult(True).credit == 1.0
        assert CaseResult(False, "wrong answer").credit == 0.0

    def test_partial_credit_counts_as_it_is(self) -> None:
        assert CaseResult(False, score=0.25).credit == 0.25
        assert CaseResult(True, score=0.0).credit == 0.0


class TestJson:
    def test_the_json_form_holds_every_field(self) -> None:
        verdict = Verdict(
            Status.TIMEOUT,
            0.5,
            "wall time limit reached",
            (CaseResult(True), CaseResult(False, "no answer", score=0.5)),
            Usage(1.23456789, 0.5, 1024),
            Seal.AS_WRITTEN,
            "namespaces",
            {"style": 0.25},
        )
        assert json.loads(json.dumps(verdict.to_json(), allow_nan=False)) == {
            "status": "timeout",
            "score": 0.5,
            "reason": "wall time limit reached",
            "cases": [
                {"passed": True, "score": 1.0, "reason": ""},
                {"passed": False, "score": 0.5, "reason": "no answer"},
            ],
            "usage": {"wall_s": 1.234568, "cpu_s": 0.5, "max_rss_bytes": 1024},
            "seal": "as_written",
            "isolation": "namespaces",
            "details": {"style": 0.25},
        }

    def test_an_unscored_verdict_has_null_for_its_score(self) -> None:
        assert unscored_verdict("broken").to_json()["score"] is None
