from __future__ import annotations

import dataclasses

import pytest

from unhack.core.problem import Problem
from unhack.tasks.task import Task
from unhack.verifiers.function import Case, FunctionVerifier

VERIFIER = FunctionVerifier("f", (Case((), expected=1),))


class TestTask:
    def test_a_task_is_named_and_asked_like_its_problem(self) -> None:
        task = Task(Problem("lists/rotate", "Rotate the list."), VERIFIER)
        assert (task.id, task.prompt, task.path) == ("lists/rotate", "Rotate the list.", None)

    def test_a_task_cannot_be_changed(self) -> None:
        task = Task(Problem("p", ""), VERIFIER)
        with pytest.raises(dataclasses.FrozenInstanceError):
            task.problem = Problem("q", "")  # type: ignore[misc]
