from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unhack.core.verdict import Seal, Status, Verdict
from unhack.sandbox.limits import Limits
from unhack.sandbox.pool.pool import Pool
from unhack.verifiers.function import Case, FunctionVerifier
from unhack.verifiers.jobs import printable, read_claims
from unhack.verifiers.values.compare import Compare

Score = Callable[..., Verdict]
AMPLE = Limits(wall_s=20.0, cpu_s=20.0, memory_bytes=128 << 20, output_bytes=50_000)
QUICK = AMPLE.with_(wall_s=0.4)
"""For what never ends; what ends has time on a busy host too."""


def doubles(**options: Any) -> FunctionVerifier:
    """f must double 1, 2, 3 and 4."""
    cases = tuple(Case((number,), expected=2 * number) for number in (1, 2, 3, 4))
    settings: dict[str, Any] = {"limits": AMPLE, **options}
    return FunctionVerifier("f", cases, **settings)


class TestStatuses:
    @pytest.mark.parametrize(
        ("completion", "status", "reason"),
        [
            ("def f(x): return 2 * x", Status.PASSED, ""),
            ("f = lambda x: x + x", Status.PASSED, ""),
            ("def f(x): return 3 * x", Status.FAILED, "case 1 of 4: wrong answer"),
            ("def f(x): return min(2 * x, 4)", Status.FAILED, "case 3 of 4: wrong answer"),
            ("def f(x): return 2.0 * x", Status.FAILED, "case 1 of 4: wrong answer"),
            (
                "def f(x): raise ValueError('no')",
                Status.ERROR,
                "case 1 of 4: raised ValueError: no",
            ),
            ("def f(x): return 2 * y", Status.ERROR, "raised NameError"),
            ("def f(): return 2", Status.ERROR, "raised TypeError"),
            ("f = 5", Status.ERROR, "raised TypeError"),
            ("import sys\ndef f(x): sys.exit(0)", Status.ERROR, "raised SystemExit"),
            ("import os\ndef f(x): os._exit(3)", Status.ERROR, "exited with code 3 before case 1"),
            ("import ctypes\ndef f(x): ctypes.string_at(0)", Status.ERROR, "ended by signal 11"),
            ("1 / 0", Status.ERROR, "ZeroDivisionError while loading: division by zero"),
            ("raise SystemExit", Status.ERROR, "SystemExit while loading"),
            ("def f(x):\n    while True: pass", Status.TIMEOUT, "wall time limit reached"),
            ("while True: pass", Status.TIMEOUT, "wall time limit reached"),
            ("def f(x): return [0] * (1 << 28)", Status.LIMIT, "raised MemoryError"),
            ("def f(x): return 'x' * 100_000", Status.LIMIT, "output limit reached"),
            ("", Status.INVALID, "no code in the completion"),
            ("  \n", Status.INVALID, "no code in the completion"),
            ("```text\nhello\n```", Status.INVALID, "no code in the completion"),
            ("def f(x: return", Status.INVALID, "SyntaxError"),
            ("def f(x):\n    return 1\n  return 2", Status.INVALID, "IndentationError"),
            ("x = '\0'", Status.INVALID, "null bytes"),
            ("def g(x): return 2 * x", Status.INVALID, "the completion defines no f"),
        ],
        ids=lambda item: repr(item)[:40],
    )
    def test_every_way_to_end_has_its_status_and_reason(
        self, score: Score, completion: str, status: Status, reason: str
    ) -> None:
        limits = QUICK if status is Status.TIMEOUT else AMPLE
        verdict = score(doubles(limits=limits), completion)
        assert (verdict.status, verdict.score) == (status, float(status is Status.PASSED))
        assert reason in verdict.reason
        assert bool(verdict.reason) is not verdict.passed

    def test_memory_exhausted_while_loading_is_a_limit_too(self, score: Score) -> None:
        assert score(doubles(), "data = [0] * (1 << 28)").status is Status.LIMIT

    def test_a_verdict_names_its_seal_and_isolation_and_use(self, score: Score, pool: Pool) -> None:
        verdict = score(doubles(), "def f(x): return 2 * x")
        assert verdict.seal is Seal.SEALED
        assert verdict.isolation == pool.isolation.value
        assert verdict.usage.wall_s > 0
        assert verdict.usage.max_rss_bytes > 1 << 20

    def test_a_verifier_without_cases_is_refused(self) -> None:
        with pytest.raises(ValueError, match="would pass everything"):
            FunctionVerifier("f", ())


class TestCases:
    def test_each_case_has_its_own_result(self, score: Score) -> None:
        verdict = score(doubles(), "def f(x): return 2 * x if x != 2 else 'two'")
        assert [case.passed for case in verdict.cases] == [True, False, True, True]
        assert verdict.cases[1].output == "'two'"
        assert verdict.cases[1].reason == "wrong answer"

    def test_cases_after_an_exit_have_no_answer(self, score: Score) -> None:
        source = "import os\ndef f(x):\n    if x == 3: os._exit(0)\n    return 2 * x\n"
        verdict = score(doubles(partial_credit=True), source)
        assert [case.reason for case in verdict.cases] == ["", "", "no answer", "no answer"]
        assert (verdict.status, verdict.score) == (Status.ERROR, 0.5)
        assert verdict.reason == "exited with code 0 before case 3"

    def test_keyword_arguments_and_odd_values_arrive(self, score: Score) -> None:
        case = Case(
            ((1, (2,)), {3}, b"\x00", math.inf),
            {"key": {1: "one"}, "big": 10**400},
            expected=[(1, (2,)), {3}, b"\x00", math.inf, {1: "one"}, 10**400],
        )
        verifier = FunctionVerifier("f", (case,), limits=AMPLE)
        assert score(verifier, "def f(*a, key, big): return [*a, key, big]").passed

    def test_what_the_candidate_is_sent_holds_inputs_and_no_expected_value(self) -> None:
        cases = (Case(("input",), expected="secret"), Case((1,), raises="SecretError"))
        message = FunctionVerifier("f", cases)._template.job("source").message
        assert b"input" in message
        assert b"ecret" not in message

    def test_a_case_cannot_be_changed_by_an_earlier_one(self, score: Score) -> None:
        cases = (Case(([1],), expected=[1, 9]), Case(([1],), expected=[1, 9]))
        assert score(FunctionVerifier("f", cases), "def f(x): x.append(9); return x").passed

    def test_state_of_the_module_lasts_through_the_cases(self, score: Score) -> None:
        cases = tuple(Case((), expected=number) for number in (1, 2, 3))
        source = "count = 0\ndef f():\n    global count\n    count += 1\n    return count\n"
        assert score(FunctionVerifier("f", cases), source).passed

    def test_all_of_many_cases_are_asked(self, score: Score) -> None:
        cases = tuple(Case((number,), expected=-number) for number in range(3000))
        verifier = FunctionVerifier("f", cases)
        assert score(verifier, "def f(x): return -x").passed
        verdict = score(verifier, "def f(x): return -x if x != 2999 else 0")
        assert verdict.reason == "case 3000 of 3000: wrong answer"

    @pytest.mark.parametrize(
        ("compare", "accepted"),
        [
            (Compare.EXACT, ["[1, 2]"]),
            (Compare.EQUAL, ["[1, 2]", "[1.0, 2]"]),
            (Compare.FLOAT, ["[1, 2]", "[1.0, 2]", "[1, 2.0000000001]"]),
            (Compare.UNORDERED, ["[1, 2]", "[2, 1]"]),
        ],
    )
    def test_the_comparison_is_the_one_that_was_chosen(
        self, score: Score, compare: Compare, accepted: list[str]
    ) -> None:
        verifier = FunctionVerifier("f", (Case((), expected=[1, 2]),), compare=compare)
        for answer in ("[1, 2]", "[1.0, 2]", "[1, 2.0000000001]", "[2, 1]", "(1, 2)"):
            verdict = score(verifier, f"def f(): return {answer}")
            assert verdict.passed is (answer in accepted), answer


class TestExceptions:
    RAISES = (Case((0,), raises="ValueError"), Case((1,), expected=1))

    @pytest.mark.parametrize(
        ("body", "passed", "reason"),
        [
            ("if not x: raise ValueError('x')", True, ""),
            ("if not x: raise UnicodeError", True, ""),
            ("if not x: raise type('Mine', (ValueError,), {})", True, ""),
            ("if not x: raise TypeError", False, "raised TypeError"),
            ("if not x: raise Exception", False, "raised Exception"),
            ("if not x: return ValueError()", False, "returned instead of raising ValueError"),
            ("raise ValueError", False, "case 2 of 2: raised ValueError"),
        ],
    )
    def test_the_class_or_a_subclass_must_be_raised(
        self, score: Score, body: str, passed: bool, reason: str
    ) -> None:
        verdict = score(
            FunctionVerifier("f", self.RAISES), f"def f(x):\n    {body}\n    return x\n"
        )
        assert verdict.passed is passed
        assert reason in verdict.reason

    def test_an_exception_whose_text_raises_is_still_one(self, score: Score) -> None:
        source = (
            "class E(ValueError):\n    def __str__(self): raise SystemExit\n"
            "def f(x):\n    if not x: raise E\n    return x\n"
        )
        assert score(FunctionVerifier("f", self.RAISES), source).passed

    def test_an_exception_with_a_long_text_is_cut(self, score: Score) -> None:
        verdict = score(doubles(), "def f(x): raise ValueError('y' * 100_000)")
        assert verdict.status is Status.ERROR
        assert len(verdict.reason) < 400


class TestCredit:
    def test_without_partial_credit_one_wrong_case_costs_everything(self, score: Score) -> None:
        assert score(doubles(), "def f(x): return 2 * x if x < 4 else 0").score == 0.0

    @pytest.mark.parametrize(("right", "share"), [(0, 0.0), (1, 0.25), (3, 0.75), (4, 1.0)])
    def test_partial_credit_is_the_share_of_cases(
        self, score: Score, right: int, share: float
    ) -> None:
        source = f"def f(x): return 2 * x if x <= {right} else None"
        verdict = score(doubles(partial_credit=True), source)
        assert (verdict.score, verdict.passed) == (share, share == 1.0)

    @pytest.mark.slow
    def test_a_time_out_keeps_the_credit_of_what_was_answered(self, score: Score) -> None:
        source = "def f(x):\n    while x == 4: pass\n    return 2 * x\n"
        limits = AMPLE.with_(wall_s=1.0)
        verdict = score(doubles(partial_credit=True, limits=limits), source)
        assert (verdict.status, verdict.score) == (Status.TIMEOUT, 0.75)

    def test_early_stop_does_not_wait_for_what_comes_after_a_wrong_answer(
        self, score: Score
    ) -> None:
        source = "def f(x):\n    while x > 1: pass\n    return 0\n"
        verdict = score(doubles(early_stop=True, limits=Limits(wall_s=50, cpu_s=50)), source)
        assert (verdict.status, verdict.score) == (Status.FAILED, 0.0)
        assert verdict.reason == "case 1 of 4: wrong answer"

    def test_early_stop_lets_a_right_completion_through(self, score: Score) -> None:
        assert score(doubles(early_stop=True), "def f(x): return 2 * x").passed

    def test_after_an_early_stop_later_cases_count_as_not_passed(self, score: Score) -> None:
        verifier = doubles(early_stop=True, partial_credit=True)
        verdict = score(verifier, "def f(x): return 2 * x if x != 2 else 0")
        assert [case.passed for case in verdict.cases] == [True, False, False, False]
        assert verdict.score == 0.25


class TestSetup:
    def test_setup_stands_before_the_completion(self, score: Score) -> None:
        verifier = doubles(setup="import math\nTWO = 2\n")
        assert score(verifier, "def f(x): return math.floor(TWO * x)").passed

    def test_setup_needs_no_newline_at_its_end(self, score: Score) -> None:
        assert score(doubles(setup="TWO = 2"), "def f(x): return TWO * x").passed

    def test_scratch_gives_a_writable_directory_and_its_absence_none(self, score: Score) -> None:
        source = (
            "def f(x):\n    open('t', 'w').write(str(2 * x))\n    return int(open('t').read())\n"
        )
        assert score(doubles(scratch=True), source).passed
        assert score(doubles(), source).status is Status.ERROR

    @pytest.mark.slow
    def test_a_preloaded_module_can_be_imported_and_others_cannot(self, score: Score) -> None:
        pytest.importorskip("numpy")
        source = "import numpy\ndef f(x): return int(numpy.int64(x) * 2)"
        assert score(doubles(preload=("numpy",), limits=Limits()), source).passed
        assert "No module named 'numpy'" in score(doubles(), source).reason


class TestClaims:
    @given(st.binary(max_size=200), st.integers(0, 5))
    def test_any_bytes_can_be_read(self, data: bytes, count: int) -> None:
        assert len(read_claims(data, count).answers) == count

    _ITEM = st.recursive(
        st.none() | st.booleans() | st.integers(-2, 4) | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["$tuple", "$set", "$as", "x"]), inner, max_size=1)
        ),
        max_leaves=8,
    )
    _WORD = st.sampled_from(["ok", "raise", "syntax", "load", "missing", "exit"])

    @pytest.mark.slow
    @given(st.lists(st.tuples(st.none() | st.integers(-2, 4), _WORD, _ITEM, _ITEM) | _ITEM))
    def test_any_json_lines_can_be_read(self, lines: list[Any]) -> None:
        data = "\n".join(json.dumps(line) for line in lines).encode()
        assert len(read_claims(data, 3).answers) == 3

    def test_the_first_answer_to_a_case_counts(self) -> None:
        claims = read_claims(b'[0,"ok",1]\n[0,"ok",2]\n[0,"raise",["E"],"m"]\n', 1)
        assert claims.answers[0] is not None
        assert claims.answers[0].value == 1

    @pytest.mark.parametrize("index", ["-1", "2", "true", "0.0", '"0"', "[0]"])
    def test_answers_to_cases_that_do_not_exist_are_dropped(self, index: str) -> None:
        assert read_claims(f'[{index},"ok",1]\n'.encode(), 2).answers == [None, None]

    def test_a_failure_after_an_answer_is_ignored(self) -> None:
        claims = read_claims(b'[0,"ok",1]\n[null,"missing","f"]\n', 1)
        assert claims.failure is None

    def test_a_deeply_nested_claim_is_no_answer(self) -> None:
        value = '{"$tuple":[' * 250 + "]}" * 250
        assert read_claims(f'[0,"ok",{value}]\n'.encode(), 1).answers == [None]

    def test_a_completion_that_writes_answers_itself_gains_only_claims(self, score: Score) -> None:
        forged = "import os\nfor i in range(4): os.write(3, b'[%d,\"ok\",%d]\\n' % (i, 9))\n"
        verdict = score(doubles(), forged + "def f(x): return 2 * x")
        assert verdict.status is Status.FAILED

    @pytest.mark.parametrize("line", ['[null,"broken",["OSError"],"x"]', '[null,"done"]', "x"])
    def test_faking_a_broken_sandbox_scores_zero(self, score: Score, line: str) -> None:
        source = f"import os\nos.write(3, b'{line}\\n')\nos._exit(70)\n"
        verdict = score(doubles(), source, reference="def f(x): return 2 * x")
        assert verdict.score == 0.0


class TestPrintable:
    @given(st.text(st.characters(exclude_categories=())))
    def test_it_is_one_printable_line(self, text: str) -> None:
        assert printable(text).isprintable()

    def test_it_is_never_longer_than_it_says(self) -> None:
        assert len(printable("\u202e" * 200)) <= 200

    def test_printable_text_stays_as_it_is(self) -> None:
        assert printable("naïve 数 text") == "naïve 数 text"

    def test_control_and_bidirectional_characters_are_spelled_out(self) -> None:
        assert printable("a\x1b[31m\u202e\n") == "a\\x1b[31m\\u202e\\n"
