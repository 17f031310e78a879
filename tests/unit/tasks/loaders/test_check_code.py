"""Test code that no case can express runs as it is, against a completion in another process."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from unhack.core.verdict import Seal, Status, Verdict
from unhack.sandbox.limits import Limits
from unhack.tasks.loaders.check_code import (
    CALL,
    CheckCode,
    CheckVerifier,
    build_script_verifier,
    build_verifier,
    check_script,
)
from unhack.tasks.loaders.options import LoadOptions
from unhack.verifiers.function import FunctionVerifier
from unhack.verifiers.script import Mode

Score = Callable[..., Verdict]
OPTIONS = LoadOptions(limits=Limits(wall_s=20.0, cpu_s=5.0))
SETUP = "def shift(text, by):\n    return ''.join(chr(ord(c) + by) for c in text)\n"
LOOP = """
def check(candidate):
    import random
    for _ in range(20):
        text = "".join(random.choice("abc") for _ in range(5))
        assert candidate(shift(text, 3)) == text, text
"""
UNSHIFT = CheckCode("unshift", LOOP, setup=SETUP)
RIGHT = "def unshift(text):\n    return shift(text, -3)\n"


def test_constant_asserts_become_cases_and_a_loop_a_script():
    cases = build_verifier(CheckCode("f", "def check(c):\n    assert c(1) == 2\n"), OPTIONS)
    assert isinstance(cases, FunctionVerifier)
    assert isinstance(build_verifier(UNSHIFT, OPTIONS), CheckVerifier)


def test_a_loop_of_asserts_accepts_the_right_answer_sealed(score: Score):
    verdict = score(build_verifier(UNSHIFT, OPTIONS), RIGHT)
    assert (verdict.status, verdict.seal) == (Status.PASSED, Seal.SEALED)


@pytest.mark.parametrize(
    ("completion", "reason"),
    [
        ("def unshift(text):\n    return text\n", "an assert failed"),
        ("def unshift(text):\n    return 1 // 0\n", "ZeroDivisionError"),
        ("def unshift(text):\n    raise KeyError('k')\n", "KeyError"),
        ("def other(text):\n    return text\n", "the completion defines no unshift"),
        ("unshift = 3\n", "not callable"),
        ("def unshift(text):\n    import os\n    os._exit(0)\n", "process has ended"),
        ("class Same:\n    def __eq__(self, other):\n        return True\n"
         "def unshift(text):\n    return Same()\n", "== between"),
    ],
)  # fmt: skip
def test_a_wrong_completion_scores_0_with_its_reason(score: Score, completion: str, reason: str):
    verdict = score(build_verifier(UNSHIFT, OPTIONS), completion, reference=RIGHT)
    assert verdict.score == 0.0
    assert reason in verdict.reason


def test_a_completion_cannot_redefine_the_helpers_of_the_tests(score: Score):
    completion = "def shift(text, by):\n    return ''\ndef unshift(text):\n    return ''\n"
    verdict = score(build_verifier(UNSHIFT, OPTIONS), completion, reference=RIGHT)
    assert verdict.score == 0.0


def test_a_completion_cannot_redefine_the_builtins_of_the_tests(score: Score):
    code = CheckCode(
        "f", "def check(c):\n    for n in (1, 2):\n        assert abs(c(n) - n) < 0.1\n"
    )
    completion = "def abs(x):\n    return 0\ndef f(n):\n    return -n\n"
    assert score(build_verifier(code, OPTIONS), completion).score == 0.0
    assert score(build_verifier(code, OPTIONS), "def f(n):\n    return n\n").score == 1.0


def test_a_completion_cannot_bring_a_module_that_the_tests_use(score: Score):
    code = CheckCode("f", asserts=("assert math.isclose(f(1) + 0, 3.0)",))
    completion = (
        "class math:\n    def isclose(a, b):\n        return True\ndef f(n):\n    return n\n"
    )
    assert score(build_verifier(code, OPTIONS), completion).score == 0.0
    assert score(build_verifier(code, OPTIONS), "def f(n):\n    return 3 * n\n").score == 1.0


def test_an_entry_point_may_be_called_solution(score: Score):
    code = CheckCode("solution", "def check(c):\n    for n in (1, 2):\n        assert c(n) == n\n")
    assert score(build_verifier(code, OPTIONS), "def solution(n):\n    return n\n").passed


def test_a_call_of_the_tests_at_their_end_runs_them_only_once(score: Score):
    code = CheckCode(
        "f", "def check(c):\n    for n in (1,):\n        assert c(n) == 1\n\ncheck(f)\n"
    )
    assert "\ncheck(f)" not in check_script(code)
    assert score(build_verifier(code, OPTIONS), "def f(n):\n    return n\n").passed


METHOD = CheckCode("Solution().double", asserts=("assert Solution().double(4) == 8",))
DOUBLE = "class Solution:\n    def double(self, n):\n        return 2 * n\n"


def test_a_method_is_judged_by_cases(score: Score):
    verifier = build_verifier(METHOD, OPTIONS)
    assert isinstance(verifier, FunctionVerifier)
    assert verifier.entry_point == CALL
    assert score(verifier, DOUBLE).passed
    assert score(verifier, DOUBLE.replace("2", "3")).score == 0.0
    assert score(verifier, "x = 1\n").score == 0.0


def test_a_method_is_judged_by_a_script(score: Score):
    verifier = build_script_verifier(METHOD, OPTIONS)
    assert score(verifier, DOUBLE).passed
    assert score(verifier, DOUBLE.replace("2", "3")).score == 0.0


def test_a_missing_module_of_the_tests_is_no_fault_of_the_completion(score: Score):
    code = CheckCode(
        "f", "def check(c):\n    import no_such_module\n    assert c(1) == 1\n    c(2)\n"
    )
    verifier = build_script_verifier(code, OPTIONS)
    verdict = score(verifier, "def f(n):\n    return n\n", reference="def f(n):\n    return n\n")
    assert verdict.status is Status.UNSCORED
    assert "no_such_module" in verdict.reason


@pytest.mark.slow
def test_the_mode_as_written_is_marked(score: Score):
    code = CheckCode("f", "def check(c):\n    for n in (1,):\n        assert c(n) is n\n")
    verifier = build_script_verifier(code, LoadOptions(script_mode=Mode.AS_WRITTEN))
    assert score(verifier, "def f(n):\n    return n\n").seal is Seal.AS_WRITTEN
    assert score(verifier, "   ").seal is Seal.AS_WRITTEN


def test_third_party_modules_of_the_tests_are_loaded_once_in_the_worker():
    code = CheckCode("f", "import numpy as np\nimport math\n\ndef check(c):\n    c(np.pi)\n")
    assert build_script_verifier(code, OPTIONS).script.preload == ("numpy",)


def test_the_canary_is_judged_not_refused(score: Score):
    verifier = build_verifier(UNSHIFT, OPTIONS)
    assert score(verifier, verifier.canary()).status is Status.FAILED
