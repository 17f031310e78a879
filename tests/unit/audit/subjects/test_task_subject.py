"""Tasks of ours are audited by the verifiers that their users run."""

from __future__ import annotations

from pathlib import Path

import pytest

from unhack.audit.subject import Query
from unhack.audit.subjects.task_subject import TaskSubject, audit_problem
from unhack.core.problem import Problem
from unhack.sandbox.pool.pool import Pool
from unhack.tasks.suite import find_tasks
from unhack.tasks.task import Task
from unhack.verifiers.script import ScriptVerifier


def _subject(name: str, pool: Pool) -> TaskSubject:
    return TaskSubject(name, find_tasks(name), pool)


class TestABuiltInTask:
    @pytest.mark.parametrize("name", ["strings/knit-rows", "math/bag-draw#0"])
    def test_its_reference_passes_and_its_canary_fails(self, pool: Pool, name: str) -> None:
        subject = _subject(name, pool)
        [problem] = subject.problems
        canary = subject.tasks[0].verifier.canary()
        right, wrong = subject.score([Query(problem, problem.correct[0]), Query(problem, canary)])
        assert right.at_least(1.0)
        assert wrong.value == 0.0
        assert wrong.reason

    def test_a_function_task_tells_its_calls(self, pool: Pool) -> None:
        [problem] = _subject("strings/knit-rows", pool).problems
        assert problem.entry_point == "knit_rows"
        assert problem.is_code
        assert problem.calls
        assert len(problem.correct) == 2  # the reference and the folder's right solution

    def test_a_text_task_has_an_answer_for_each_row(self, pool: Pool) -> None:
        problems = _subject("math/bag-draw", pool).problems
        assert len(problems) > 1
        assert all(problem.answer and not problem.is_code for problem in problems)

    def test_a_checker_is_its_source(self, pool: Pool) -> None:
        source = _subject("strings/sealed-crates", pool).source
        assert source is not None
        assert (Path(source.path).name, source.entry) == ("checker.py", "check")
        assert _subject("strings/knit-rows", pool).source is None

    def test_the_fingerprint_tells_tasks_apart(self, pool: Pool) -> None:
        one, two = _subject("strings/knit-rows", pool), _subject("strings/echo-keys", pool)
        assert one.fingerprint == _subject("strings/knit-rows", pool).fingerprint
        assert one.fingerprint != two.fingerprint

    def test_the_same_text_is_judged_each_time(self, pool: Pool) -> None:
        subject = _subject("strings/knit-rows", pool)
        queries = [Query(subject.problems[0], subject.problems[0].correct[0])] * 3
        assert [score.value for score in subject.score(queries)] == [1.0] * 3


class TestWhatIsNotScored:
    @pytest.mark.slow
    def test_a_broken_verifier_is_trouble_with_its_reason(self, pool: Pool) -> None:
        script = "def verify(solution_path, test_cases_path):\n    raise KeyError('lost')\n"
        task = Task(Problem("broken", "?", "def f(): return 1\n"), ScriptVerifier(script))
        subject = TaskSubject("broken", (task,), pool)
        scores = subject.score([Query(subject.problems[0], f"x = {n}\n") for n in range(12)])
        assert {(score.value, score.trouble) for score in scores} == {(None, "raised")}
        assert "lost" in scores[0].reason


class TestAScriptsProblem:
    def test_entry_and_calls_come_from_reference_and_cases(self) -> None:
        verifier = ScriptVerifier(
            "import solution\nsolution.add", '{"args": [1, 2], "expected": 3}\n'
        )
        problem = audit_problem(Task(Problem("t", "?", "def add(a, b): return a + b\n"), verifier))
        assert problem.entry_point == "add"
        assert [(call.args, call.expected) for call in problem.calls] == [((1, 2), 3)]
