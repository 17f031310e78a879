from __future__ import annotations

import dataclasses

import pytest

from unhack.core.problem import Problem


class TestProblem:
    def test_a_problem_cannot_be_changed(self) -> None:
        problem = Problem("p", "prompt")
        with pytest.raises(dataclasses.FrozenInstanceError):
            problem.answer = "42"  # type: ignore[misc]

    def test_secrets_are_absent_unless_given(self) -> None:
        problem = Problem("p", "prompt")
        assert problem.reference is None
        assert problem.answer is None

    def test_problems_do_not_share_meta(self) -> None:
        first, second = Problem("a", ""), Problem("b", "")
        first.meta["tags"] = ["x"]
        assert second.meta == {}
