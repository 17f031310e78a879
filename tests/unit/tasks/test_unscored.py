"""Unscored is out of a completion's reach, whatever the verifier and whatever the garbage."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from tests.unit.tasks import garbage

from unhack.core.problem import Problem
from unhack.core.verdict import Status
from unhack.sandbox.pool.pool import Pool
from unhack.tasks.batch import Batch, run_batch
from unhack.tasks.task import Task
from unhack.verifiers.function import Case, FunctionVerifier
from unhack.verifiers.pytest import PytestVerifier
from unhack.verifiers.python import PythonVerifier
from unhack.verifiers.rubric import Criterion, RubricVerifier
from unhack.verifiers.script import ScriptVerifier
from unhack.verifiers.stdio import StdioCase, StdioVerifier

CHECK = "def check(args, kwargs, output, expected):\n    {}\n"
EXPECTED = {
    "first": "[9]", "set": "[9]", "sorted": "[9]", "int": "'9'", "json": "'9'", "edges": "[(4, 5)]",
    "of arguments": "[3, 3]", "recursion": "[[]]", "attribute": "'nine'", "keys": "{'value': 9}",
}  # fmt: skip
"""What a right function returns, where it is not 9."""


def sampled(names: Iterable[str], quick: int) -> list[Any]:
    """Names, of which all but the first few are slow tests."""
    return [
        name if number < quick else pytest.param(name, marks=pytest.mark.slow)
        for number, name in enumerate(names)
    ]


def callable_task(function: Callable[..., Any]) -> Task:
    return Task(Problem("p", "", answer="5"), PythonVerifier(function))


def checked(body: str, expected: Any = 9) -> Task:
    cases = (Case((3,), expected=expected),)
    return Task(Problem("p", ""), FunctionVerifier("f", cases, checker=CHECK.format(body)))


def returning(expressions: list[str]) -> list[str]:
    return [f"def f(x): return {text}\n" for text in expressions]


def left(batch: Batch, completions: list[str]) -> list[str]:
    """The completions that are unscored."""
    pairs = zip(batch.verdicts, completions, strict=True)
    return [text[:60] for verdict, text in pairs if not verdict.scored]


class TestCallables:
    @pytest.mark.parametrize("name", sampled(garbage.CALLABLES, 6))
    def test_garbage_alone_is_scored(self, pool: Pool, name: str) -> None:
        task = callable_task(garbage.CALLABLES[name])
        assert len(garbage.TEXTS)
        for part in range(0, len(garbage.TEXTS), 5):  # no other answer stands beside most of it
            texts = garbage.TEXTS[part : part + 5]
            assert left(run_batch(task, texts, backend=pool), texts) == []

    @pytest.mark.parametrize("name", sampled(garbage.CALLABLES, 6))
    def test_garbage_earns_no_more_than_an_honest_wrong_answer(self, pool: Pool, name: str) -> None:
        wrong = garbage.WRONG_TEXTS[name]
        right = wrong.replace("6", "5").replace("05-02", "05-05")
        texts = [*garbage.TEXTS, wrong, right]
        batch = run_batch(callable_task(garbage.CALLABLES[name]), texts, backend=pool)
        *garbages, honest, best = batch.advantages("grpo").values
        assert batch.rewards[-2:] == (0.0, 1.0)
        assert max(value for value, reward in zip(garbages, batch.rewards, strict=False)
                   if reward != 1.0) <= honest < best  # fmt: skip

    @pytest.mark.parametrize("name", garbage.BROKEN_CALLABLES)
    def test_a_callable_that_breaks_on_everything_scores_nothing(
        self, pool: Pool, name: str
    ) -> None:
        texts = ["5", "#### 5", "banana"]
        batch = run_batch(callable_task(garbage.BROKEN_CALLABLES[name]), texts, backend=pool)
        assert batch.rewards == (None, None, None)

    def test_what_was_judged_decides_where_no_form_is_known(self, pool: Pool) -> None:
        def odd(completion: str) -> bool:
            return {"".join(map(chr, (112, 113))): True, "".join(map(chr, (113, 112))): False}[
                completion
            ]

        texts = ["banana", "split", "qp", "pear", "pq"]
        assert run_batch(callable_task(odd), texts[:2], backend=pool).rewards == (None, None)
        assert run_batch(callable_task(odd), texts, backend=pool).rewards == (0, 0, 0, 0, 1)

    def test_a_callable_that_breaks_later_scores_nothing_from_then_on(self, pool: Pool) -> None:
        asked = itertools.count()

        def goes_down(completion: str) -> bool:
            if next(asked) >= 3:  # counted in one step: calls run beside each other
                raise ConnectionError("the service is down")
            return True

        texts = [f"text {number}" for number in range(6)]
        batch = run_batch(callable_task(goes_down), texts, backend=pool, dedupe=False)
        assert batch.rewards.count(1.0) == 3
        assert batch.rewards.count(None) == 3

    def test_another_tasks_answers_are_no_evidence(self, pool: Pool) -> None:
        def by_field(completion: str, problem: Problem) -> bool:
            return completion == problem.meta["gold"]

        verifier = PythonVerifier(by_field)
        good = Task(Problem("good", "", meta={"gold": "5"}), verifier)
        bad = Task(Problem("bad", ""), verifier)
        batch = run_batch([good, bad, good, bad], ["5", "5", "6", "6"], backend=pool)
        assert batch.rewards == (1.0, None, 0.0, None)


@pytest.mark.slow
class TestCheckers:
    @pytest.mark.parametrize("name", sampled(garbage.CHECKERS, 2))
    def test_garbage_alone_is_scored(self, pool: Pool, name: str) -> None:
        task = checked(garbage.CHECKERS[name])
        sources = returning(garbage.VALUES)
        for part in range(0, len(sources), 15):
            some = sources[part : part + 15]
            assert left(run_batch(task, some, backend=pool), some) == []
        right = returning([EXPECTED.get(name, "9")])
        assert run_batch(task, right, backend=pool).rewards == (1.0,)

    @pytest.mark.parametrize("name", sampled(["first", "edges", "set", "of arguments", "keys"], 1))
    def test_a_checker_without_expected_values_scores_garbage_too(
        self, pool: Pool, name: str
    ) -> None:
        body = garbage.CHECKERS[name].replace("expected", "9")
        sources = returning([EXPECTED[name], *garbage.VALUES])
        assert left(run_batch(checked(body, None), sources, backend=pool), sources) == []

    @pytest.mark.parametrize("name", sampled(garbage.BROKEN_CHECKERS, 2))
    def test_a_checker_that_breaks_on_everything_scores_nothing(
        self, pool: Pool, name: str
    ) -> None:
        sources = returning(["9", "8", "'banana'"])
        batch = run_batch(checked(garbage.BROKEN_CHECKERS[name]), sources, backend=pool)
        assert batch.rewards == (None, None, None)

    @pytest.mark.parametrize(
        "body",
        [
            "return abs(float(output) - float(expected)) < 1e-6",
            "return output.split()[0] == expected.split()[0]",
            "import json\n    return json.loads(output) == json.loads(expected)",
            "return int(output.splitlines()[0]) == 9",
            "a, = map(int, output.split())\n    return a == 9",
        ],
    )
    def test_checkers_of_programs(self, pool: Pool, body: str) -> None:
        source = f"def check(stdin, output, expected):\n    {body}\n"
        task = Task(Problem("p", ""), StdioVerifier((StdioCase("3\n", "9\n"),), checker=source))
        printed = [
            "'banana'",
            "''",
            "'nan banana'",
            "'[' * 4000",
            "'9' * 5000",
            "'\\x00'",
            "'9 9 9'",
        ]
        programs = [f"print({text})" for text in printed]
        programs.append("import sys; sys.stdout.buffer.write(bytes(range(256)))")
        for program in programs:
            assert left(run_batch(task, [program], backend=pool), [program]) == []
        assert run_batch(task, ["print(9)", "print(8)"], backend=pool).rewards == (1.0, 0.0)

    def test_a_broken_checker_of_programs_scores_nothing(self, pool: Pool) -> None:
        source = "def check(stdin, output, expected):\n    return output == gold\n"
        task = Task(Problem("p", ""), StdioVerifier((StdioCase("3\n", "9\n"),), checker=source))
        assert run_batch(task, ["print(9)", "print(8)"], backend=pool).rewards == (None, None)

    def test_with_a_reference_the_reference_decides(self, pool: Pool) -> None:
        body = "return output[0] == expected"
        verifier = FunctionVerifier("f", (Case((3,), expected=[9]),), checker=CHECK.format(body))
        task = Task(Problem("p", "", reference="def f(x): return [[9]]\n"), verifier)
        batch = run_batch(task, returning(["None", "[[9]]"]), backend=pool)
        assert batch.rewards == (0.0, 1.0)


SCRIPTS = {
    "difference": "return abs(f(3) - 9) < 1e-6",
    "first": "return f(3)[0] == 9",
    "split": "return f(3).split()[0] == '9'",
    "json": "import json\n    return json.loads(f(3)) == 9",
    "assert": "assert isinstance(f(3), int)\n    return f(3) == 9",
    "cases": (
        "import json\n    rows = map(json.loads, open(b))\n"
        "    return all(float(f(row['x'])) == row['y'] for row in rows)"
    ),
}


@pytest.mark.slow
class TestScripts:
    @pytest.mark.filterwarnings("ignore::unhack.tasks.task.MissingControlWarning")
    def test_one_at_a_time_they_get_the_verdicts_of_a_batch(self, pool: Pool) -> None:
        script = (
            "import solution\n"
            "def verify(a, b):\n"
            "    stack = solution.Stack(); stack.push(3)\n"
            "    assert stack.pop() == 3\n"
            "    return {'score': 1.0 if len(stack) == 0 else 0.0}\n"
        )
        right = (
            "class Stack:\n"
            "    def __init__(self): self.held = []\n"
            "    def push(self, item): self.held.append(item)\n"
            "    def pop(self): return self.held.pop()\n"
            "    def __len__(self): return len(self.held)\n"
        )
        bad = ["def f(n): return 1\n", "class Stack: pass\n", "x = 1\n"]
        task = Task(Problem("p", ""), ScriptVerifier(script))
        [alone] = run_batch(task, bad[:1], backend=pool).verdicts
        assert "give the task a reference" in alone.reason
        texts = [right, *bad]
        together = run_batch(task, texts, backend=pool).rewards
        assert together == (1.0, 0.0, 0.0, 0.0)
        assert tuple(run_batch(task, [one], backend=pool).rewards[0] for one in texts) == together

    @pytest.mark.filterwarnings("ignore::unhack.tasks.task.MissingControlWarning")
    @pytest.mark.parametrize("name", sampled(SCRIPTS, 2))
    def test_garbage_alone_is_scored(self, pool: Pool, name: str) -> None:
        script = f"from solution import f\ndef verify(a, b):\n    {SCRIPTS[name]}\n"
        verifier = ScriptVerifier(script, cases='{"x": 3, "y": 9}\n')
        some = returning(["None", "'banana'", "[]", "{1: 2}", "float('nan')", "object()", "print"])
        assert some
        for source in some:
            batch = run_batch(Task(Problem("p", ""), verifier), [source], backend=pool)
            assert left(batch, [source]) == []

    @pytest.mark.parametrize("body", ["1 / 0", "return 'yes'", "return gold == f(3)"])
    def test_a_script_that_breaks_on_everything_scores_nothing(self, pool: Pool, body: str) -> None:
        script = f"from solution import f\ndef verify(a, b):\n    {body}\n"
        task = Task(Problem("p", ""), ScriptVerifier(script))
        assert run_batch(task, returning(["9", "8"]), backend=pool).rewards == (None, None)

    @pytest.mark.parametrize(
        "head",
        [
            pytest.param("FIRST = f(3)[0]", marks=pytest.mark.slow),
            pytest.param("TABLE = {f(n): n for n in range(3)}", marks=pytest.mark.slow),
            "assert f(3) == 9",
        ],
    )
    def test_a_suite_that_calls_while_it_is_collected(self, pool: Pool, head: str) -> None:
        tests = f"from solution import f\n{head}\ndef test_it():\n    assert f(3) == 9\n"
        task = Task(Problem("p", ""), PytestVerifier({"test_f.py": tests}))
        some = returning(["None", "[[]]", "{}", "object()"])
        assert some
        for source in some:
            assert (
                left(run_batch(task, [source, "def f(x): return 9"], backend=pool), [source] * 2)
                == []
            )

    @pytest.mark.slow
    def test_a_suite_that_cannot_be_collected_scores_nothing(self, pool: Pool) -> None:
        tests = "import no_such_module\nfrom solution import f\ndef test_it(): assert f(3) == 9\n"
        task = Task(Problem("p", ""), PytestVerifier({"test_f.py": tests}))
        assert run_batch(task, returning(["9", "8"]), backend=pool).rewards == (None, None)


def test_a_rubric_is_judged_by_its_criteria_together(pool: Pool) -> None:
    def hashes(completion: str, answer: str) -> bool:
        return float(completion.split("####")[1]) == float(answer)

    def short(completion: str) -> bool:
        return 1.0 / len(completion) > 0.001

    rubric = RubricVerifier(
        [
            Criterion("value", PythonVerifier(hashes)),
            Criterion("short", PythonVerifier(short)),
        ]
    )
    task = Task(Problem("p", "", answer="5"), rubric)
    batch = run_batch(task, ["", "banana", "#### x"], backend=pool)
    assert [verdict.status for verdict in batch.verdicts] == [Status.ERROR] * 3
