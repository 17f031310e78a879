from __future__ import annotations

import dataclasses

import pytest

from unhack.core.problem import Problem
from unhack.tasks.task import MissingControlWarning, Task
from unhack.verifiers.base import Verifier
from unhack.verifiers.function import Case, FunctionVerifier
from unhack.verifiers.pytest import PytestVerifier
from unhack.verifiers.rubric import Criterion, RubricVerifier
from unhack.verifiers.script import Mode, ScriptVerifier

VERIFIER = FunctionVerifier("f", (Case((), expected=1),))


class TestTask:
    def test_a_task_is_named_and_asked_like_its_problem(self) -> None:
        task = Task(Problem("lists/rotate", "Rotate the list."), VERIFIER)
        assert (task.id, task.prompt, task.path) == ("lists/rotate", "Rotate the list.", None)

    def test_a_task_cannot_be_changed(self) -> None:
        task = Task(Problem("p", ""), VERIFIER)
        with pytest.raises(dataclasses.FrozenInstanceError):
            task.problem = Problem("q", "")  # type: ignore[misc]


ASSERTING = "import solution\ndef verify(a, b):\n    assert solution.f(2) == 4\n    return True\n"
COMPARING = "import solution\ndef verify(a, b):\n    return solution.f(2) == 4\n"
RUBRIC = RubricVerifier((Criterion("tests", VERIFIER), Criterion("own", ScriptVerifier(ASSERTING))))


class TestControls:
    @pytest.mark.parametrize(
        "verifier",
        [ScriptVerifier(ASSERTING), ScriptVerifier(ASSERTING, mode=Mode.AS_WRITTEN), RUBRIC],
        ids=["script", "as written", "rubric"],
    )
    def test_a_task_whose_canaries_cannot_be_judged_says_so_when_it_is_made(
        self, verifier: Verifier
    ) -> None:
        with pytest.warns(MissingControlWarning, match="'a/b' has no reference.*line 3.*reference"):
            task = Task(Problem("a/b", ""), verifier)
        assert "line 3" in task.control_doubt

    @pytest.mark.parametrize(
        "verifier",
        [ScriptVerifier(COMPARING), VERIFIER, PytestVerifier({"test_a.py": ASSERTING})],
        ids=["script", "function", "pytest"],
    )
    def test_one_whose_canary_is_judged_says_nothing(self, verifier: Verifier) -> None:
        assert Task(Problem("a/b", ""), verifier).control_doubt == ""  # warnings are errors

    def test_nor_does_one_with_a_reference(self) -> None:
        task = Task(Problem("a/b", "", reference="def f(x): return 4"), ScriptVerifier(ASSERTING))
        assert task.control_doubt == ""
