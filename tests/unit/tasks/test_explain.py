from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from unhack.core.problem import Problem
from unhack.core.verdict import Verdict
from unhack.sandbox.job import Backend
from unhack.tasks.batch import run_batch
from unhack.tasks.explain import Explanation, explain
from unhack.tasks.task import Task
from unhack.verifiers.base import Verifier
from unhack.verifiers.function import Case, FunctionVerifier
from unhack.verifiers.python import PythonVerifier
from unhack.verifiers.script import ScriptVerifier
from unhack.verifiers.stdio import StdioCase, StdioVerifier
from unhack.verifiers.text import AnswerCheck, TextVerifier

Explain = Callable[..., Explanation | None]


@pytest.fixture
def explained(pool: Backend) -> Explain:
    def call(verifier: Verifier, text: str, *, answer: str | None = None) -> Explanation | None:
        problem = Problem("p", "Do it.", reference=None, answer=answer)
        task = Task(problem, verifier)
        [verdict] = run_batch(task, [text], backend=pool).verdicts
        secret = json.dumps(verdict.to_json())
        assert "SECRET" not in secret
        return explain(task, verdict)

    return call


def function(*cases: Case, **options: object) -> FunctionVerifier:
    return FunctionVerifier("f", cases, **options)  # type: ignore[arg-type]


def test_a_call_is_shown_with_both_values(explained: Explain) -> None:
    verifier = function(Case((1,), expected=1), Case((2,), {"b": [3]}, expected="SECRET"))
    found = explained(verifier, "def f(a, b=0): return 1")
    assert found is not None
    assert (found.case, found.cases) == (1, 2)
    assert (found.input, found.expected, found.obtained) == ("f(2, b=[3])", "'SECRET'", "1")
    assert not found.lines


def test_what_passed_has_no_explanation(explained: Explain) -> None:
    assert explained(function(Case((1,), expected=1)), "def f(a): return 1") is None


def test_an_exception_is_what_was_obtained(explained: Explain) -> None:
    found = explained(function(Case((1,), expected="SECRET")), "def f(a): raise KeyError(a)")
    assert found is not None
    assert found.obtained == "KeyError: 1"


def test_an_exception_that_did_not_come_is_what_was_expected(explained: Explain) -> None:
    found = explained(function(Case((1,), raises="ValueError")), "def f(a): return a")
    assert found is not None
    assert (found.expected, found.obtained) == ("raises ValueError", "1")


@pytest.mark.slow
def test_a_loop_obtains_nothing_and_keeps_its_reason(explained: Explain) -> None:
    from unhack.sandbox.limits import Limits

    limits = Limits(wall_s=60, cpu_s=0.2)
    found = explained(function(Case((1,), expected=1), limits=limits), "def f(a):\n while 1: pass")
    assert found is not None
    assert found.obtained == ""
    assert found.input == "f(1)"
    assert "limit reached" in found.reason


def test_a_long_list_is_shown_where_it_goes_wrong(explained: Explain) -> None:
    expected = list(range(3000))
    found = explained(
        function(Case((3000,), expected=expected)),
        "def f(n):\n    found = list(range(n))\n    found[2000] = -7\n    return found",
    )
    assert found is not None
    assert found.obtained.startswith("[-7, 2001")
    assert found.expected.startswith("[2000, 2001")
    assert "first 2000 items" in found.note


def test_with_a_checker_the_expected_value_is_one_of_several(explained: Explain) -> None:
    verifier = function(
        Case((1,), expected=[1]), checker="def check(args, kwargs, output, expected): return False"
    )
    found = explained(verifier, "def f(a): return [5]")
    assert found is not None
    assert found.obtained == "[5]"
    assert "checker decides" in found.note


def test_output_is_shown_as_a_diff(explained: Explain) -> None:
    verifier = StdioVerifier((StdioCase("3\n", "1\nSECRET\n3\n"),))
    found = explained(verifier, "print(1, 4, 3, sep='\\n')")
    assert found is not None
    assert found.lines
    assert found.input == "3\n"
    assert found.diff() == [(" ", "1"), ("-", "SECRET"), ("+", "4"), (" ", "3")]


def test_a_long_output_is_compared_where_it_goes_wrong(explained: Explain) -> None:
    right = "".join(f"{n}\n" for n in range(4000))
    verifier = StdioVerifier((StdioCase("", right),))
    found = explained(verifier, "for n in range(4000): print('x' if n == 3500 else n)")
    assert found is not None
    changed = [(mark, line) for mark, line in found.diff() if mark in "+-"]
    assert changed[:2] == [("-", "3500"), ("+", "x")]
    assert len(found.diff()) <= 41
    assert "as expected and left out" in found.note


def test_no_character_steers_a_terminal(explained: Explain) -> None:
    verifier = StdioVerifier((StdioCase("\x1b[2J", "\u202eSECRET"),))
    found = explained(verifier, "print('\\x1b[31m\\x9b')")
    assert found is not None
    text = found.input + found.expected + found.obtained + str(found.diff())
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "\x9b" not in text


def test_a_text_is_shown_with_the_gold_answer(explained: Explain) -> None:
    found = explained(TextVerifier(AnswerCheck.EXACT), "\\boxed{41}", answer="SECRET")
    assert found is not None
    assert (found.expected, found.obtained) == ("SECRET", "41")


def test_a_text_without_an_answer_keeps_its_reason(explained: Explain) -> None:
    found = explained(TextVerifier(AnswerCheck.EXACT), "41", answer="SECRET")
    assert found is not None
    assert found.reason.startswith("no final answer")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::unhack.tasks.task.MissingControlWarning")
def test_a_script_is_explained_by_its_assertion(explained: Explain) -> None:
    script = (
        "from solution import f\n"
        "def verify(solution_path, test_cases_path):\n"
        "    assert f(2) == 4, 'f(2) is not four'\n"
        "    return 1.0\n"
    )
    found = explained(ScriptVerifier(script), "def f(a): return 5")
    assert found is not None
    assert "f(2) is not four" in found.reason
    assert found.input == ""


def test_a_callable_is_explained_by_its_reason(explained: Explain) -> None:
    def score(completion: str) -> float:
        return 0.25

    found = explained(PythonVerifier(score), "x")
    assert found is not None
    assert found.reason == "score gave 0.25"


def test_an_explanation_is_of_the_run_that_the_verdict_is_of(pool: Backend) -> None:
    task = Task(Problem("p", "Do it."), function(Case((), expected=None)))
    text = "import time\ndef f(): return time.time_ns()"
    verdicts: list[Verdict] = [*run_batch(task, [text], backend=pool).verdicts]
    found = explain(task, verdicts[0])
    assert found is not None
    assert found.obtained == verdicts[0].cases[0].output
    assert found == explain(task, verdicts[0])


def test_only_the_first_failed_case_keeps_a_long_output(pool: Backend) -> None:
    function_cases = tuple(Case((n,), expected=[]) for n in range(3))
    stdio_cases = tuple(StdioCase("", "x") for _ in range(3))
    for verifier, text in (
        (function(*function_cases), "def f(n): return [0] * 5000"),
        (StdioVerifier(stdio_cases, partial_credit=True), "print('0, ' * 5000)"),
    ):
        task = Task(Problem("p", "Do it."), verifier)
        [verdict] = run_batch(task, [text], backend=pool).verdicts
        lengths = [len(case.output) for case in verdict.cases]
        assert 1900 < lengths[0] < 2100
        assert all(0 < length <= 200 for length in lengths[1:])


def test_a_crash_after_the_right_output_is_not_shown_as_a_difference(explained: Explain) -> None:
    found = explained(StdioVerifier((StdioCase("", "1\n"),)), "print(1)\n1 / 0")
    assert found is not None
    assert "ZeroDivisionError" in found.reason
    assert found.diff() == [("…", "the output is as expected; the reason is another one")]
