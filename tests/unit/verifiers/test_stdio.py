from __future__ import annotations

import shutil
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unhack.core.verdict import Status, Verdict
from unhack.sandbox.limits import Limits
from unhack.verifiers.stdio import StdioCase, StdioCompare, StdioVerifier

Score = Callable[..., Verdict]
AMPLE = Limits(wall_s=20.0, cpu_s=20.0, memory_bytes=128 << 20, output_bytes=50_000)
QUICK = AMPLE.with_(wall_s=0.5)
"""For what never ends; what ends has time on a busy host too."""
needs_cc = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")


def doubles(**options: Any) -> StdioVerifier:
    """The program must print twice the number that it reads."""
    cases = tuple(StdioCase(f"{number}\n", f"{2 * number}\n") for number in (1, 2, 3, 4))
    settings: dict[str, Any] = {"limits": AMPLE, **options}
    return StdioVerifier(cases, **settings)


def accepts(compare: StdioCompare, output: bytes, expected: str, **options: Any) -> bool:
    verifier = StdioVerifier((StdioCase("", expected),), compare=compare, **options)
    return verifier._accepts(output, expected)


class TestStatuses:
    @pytest.mark.parametrize(
        ("completion", "status", "reason"),
        [
            ("print(2 * int(input()))", Status.PASSED, ""),
            ("import sys\nsys.stdout.write(str(2 * int(sys.stdin.read())))", Status.PASSED, ""),
            ("import os\nos.write(1, b'%d' % (2 * int(input())))", Status.PASSED, ""),
            ("print(int(input()))", Status.FAILED, "case 1 of 4: wrong answer"),
            ("n = int(input()); print(2 * n if n < 3 else 0)", Status.FAILED, "case 3 of 4"),
            ("1 / 0", Status.ERROR, "exited with code 1: ZeroDivisionError: division by zero"),
            ("print(2 * int(input())); raise SystemExit(3)", Status.ERROR, "exited with code 3"),
            ("def f(:", Status.ERROR, "exited with code 1"),
            ("while True: pass", Status.TIMEOUT, "wall time limit reached"),
            ("import time; time.sleep(60)", Status.TIMEOUT, "wall time limit reached"),
            ("while True: print('x' * 1000)", Status.LIMIT, "output limit reached"),
            ("import ctypes; ctypes.string_at(0)", Status.ERROR, "ended by signal 11"),
            ("import os; os._exit(0)", Status.FAILED, "case 1 of 4: wrong answer"),
            ("", Status.INVALID, "no code in the completion"),
            ("```text\nno code\n```", Status.INVALID, "no code in the completion"),
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

    def test_a_right_output_with_a_bad_exit_code_does_not_pass(self, score: Score) -> None:
        source = "print(2 * int(input()), flush=True)\nimport os\nos._exit(1)\n"
        assert score(doubles(), source).status is Status.ERROR

    def test_a_verifier_needs_cases_and_a_known_language(self) -> None:
        with pytest.raises(ValueError, match="would pass everything"):
            StdioVerifier(())
        with pytest.raises(ValueError, match="cpp"):
            StdioVerifier((StdioCase("", ""),), language="cobol")
        with pytest.raises(ValueError, match="ignore_case has no meaning"):
            StdioVerifier((StdioCase("", ""),), compare=StdioCompare.EXACT, ignore_case=True)


class TestCases:
    def test_every_case_is_a_process_of_its_own(self, score: Score) -> None:
        source = (
            "import sys, json\nseen = getattr(json, 'seen', 0)\njson.seen = seen + 1\n"
            "print(2 * int(input()) if not seen else 0)\n"
        )
        assert score(doubles(), source).passed

    def test_cases_after_the_first_failure_are_not_run(self, score: Score) -> None:
        verdict = score(doubles(), "print(int(input()))")
        assert [case.reason for case in verdict.cases] == ["wrong answer", *["not run"] * 3]

    def test_partial_credit_runs_every_case(self, score: Score) -> None:
        source = "n = int(input())\nif n == 2: raise SystemExit(1)\nprint(2 * n if n < 4 else 0)\n"
        verdict = score(doubles(partial_credit=True), source)
        assert [case.passed for case in verdict.cases] == [True, False, True, False]
        assert (verdict.score, verdict.status) == (0.5, Status.ERROR)
        assert verdict.reason.startswith("case 2 of 4: exited with code 1")

    def test_the_wrong_output_is_shown_short_and_printable(self, score: Score) -> None:
        verdict = score(doubles(), "print('\\x1b[31m' + 'x' * 5000)")
        assert verdict.cases[0].output.startswith("\\x1b[31mxxx")
        assert len(verdict.cases[0].output) < 2500

    def test_usage_adds_up_over_the_cases(self, score: Score) -> None:
        source = "import time; time.sleep(0.05); print(2 * int(input()))"
        assert score(doubles(), source).usage.wall_s >= 4 * 0.05

    def test_what_the_candidate_is_sent_holds_its_input_and_no_expected_text(self) -> None:
        case = StdioCase("the input", "the secret output")
        job = StdioVerifier((case,))._job("print(1)", None, case)
        assert job.stdin == b"the input"
        assert b"secret" not in job.message


TOKENS = st.lists(st.text("abc019.", min_size=1, max_size=4), max_size=5)
SPACES = st.text(" \t\n\r", min_size=1, max_size=3)


class TestTokens:
    @pytest.mark.slow
    @given(TOKENS, st.data())
    def test_white_space_between_tokens_does_not_count(
        self, tokens: list[str], data: st.DataObject
    ) -> None:
        spread = "".join(data.draw(SPACES) + token for token in tokens) + data.draw(SPACES)
        assert accepts(StdioCompare.TOKEN, spread.encode(), " ".join(tokens))

    @given(TOKENS, TOKENS)
    def test_other_tokens_do_not_match(self, left: list[str], right: list[str]) -> None:
        same = accepts(StdioCompare.TOKEN, " ".join(left).encode(), "\n".join(right))
        assert same is (left == right)

    def test_numbers_are_only_text(self) -> None:
        assert not accepts(StdioCompare.TOKEN, b"1.0", "1")
        assert not accepts(StdioCompare.TOKEN, b"01", "1")


class TestExact:
    @pytest.mark.parametrize(
        ("output", "expected", "same"),
        [
            (b"a b\n", "a b\n", True),
            (b"a b", "a b\n", True),
            (b"a b\n", "a b", True),
            (b"a b\n\n", "a b\n", False),
            (b"a  b\n", "a b\n", False),
            (b"a b \n", "a b\n", False),
            (b"a\r\n", "a\n", False),
            (b"", "", True),
            (b"\n", "", True),
            (b"\xff", "\udcff", True),
        ],
    )
    def test_only_one_newline_at_the_end_is_free(
        self, output: bytes, expected: str, same: bool
    ) -> None:
        assert accepts(StdioCompare.EXACT, output, expected) is same


class TestFloats:
    @pytest.mark.parametrize(
        ("output", "expected", "same"),
        [
            (b"1.0000000001", "1", True),
            (b"1.001", "1", False),
            (b"1e3", "1000", True),
            (b"x 0.5", "x 0.50", True),
            (b"y 0.5", "x 0.5", False),
            (b"0.5", "0.5 0.5", False),
            (b"nan", "1.0", False),
            (b"nan", "nan", True),
            (b"NaN", "nan", False),
            (b"inf", "1e308", False),
            (b"inf", "inf", True),
            (b"Infinity", "inf", False),
            (b"1_0", "10", False),
            (b"0x10", "16", False),
            (b"1.0", "one", False),
            (b"one", "1.0", False),
        ],
    )
    def test_finite_numbers_have_tolerance_and_all_else_is_text(
        self, output: bytes, expected: str, same: bool
    ) -> None:
        assert accepts(StdioCompare.FLOAT, output, expected) is same

    def test_the_tolerances_are_the_verifiers(self) -> None:
        assert accepts(StdioCompare.FLOAT, b"1.05", "1", rel_tol=0.1)
        assert not accepts(StdioCompare.FLOAT, b"1.05", "1", rel_tol=0.01, abs_tol=0.01)
        assert accepts(StdioCompare.FLOAT, b"0.05", "0", abs_tol=0.1)

    def test_the_chosen_comparison_decides_a_run(self, score: Score) -> None:
        case = StdioCase("", "0.5 a\n")
        source = "print('0.50000000001   a')"
        assert score(StdioVerifier((case,), compare=StdioCompare.FLOAT), source).passed
        assert not score(StdioVerifier((case,), compare=StdioCompare.TOKEN), source).passed


class TestLines:
    @pytest.mark.parametrize(
        ("output", "expected", "same"),
        [
            (b"a\nb\n", "a\nb", True),
            (b"\n a \r\nb  \n\n", "a\nb", True),
            (b"a  b\n1.0", "a b\n1", True),
            (b"a b", "a\nb", False),
            (b"a\n\nb", "a\nb", False),
            (b"a\nb\nc", "a\nb", False),
            (b"", "a", False),
        ],
    )
    def test_lines_and_their_tokens_are_the_same(
        self, output: bytes, expected: str, same: bool
    ) -> None:
        assert accepts(StdioCompare.LINES, output, expected) is same

    @pytest.mark.parametrize(
        "compare", [StdioCompare.TOKEN, StdioCompare.FLOAT, StdioCompare.LINES]
    )
    def test_case_counts_unless_it_is_ignored(self, compare: StdioCompare) -> None:
        assert not accepts(compare, b"yes A", "YES a")
        assert accepts(compare, b"yes A", "YES a", ignore_case=True)
        assert not accepts(compare, b"yes B", "YES a", ignore_case=True)

    @pytest.mark.parametrize("output", [b"7", b"7.0", b"7e0", b"0007", b"07"])
    def test_zeros_in_front_of_an_expected_integer_count(self, output: bytes) -> None:
        assert not accepts(StdioCompare.FLOAT, output, "007")
        assert accepts(StdioCompare.FLOAT, b"007", "007")
        assert accepts(StdioCompare.FLOAT, output, "7")


class TestChecker:
    CHECK = "def check(stdin, output, expected):\n    return {}\n"

    def _verifier(self, expression: str, **options: Any) -> StdioVerifier:
        return doubles(checker=self.CHECK.format(expression), **options)

    @pytest.mark.slow
    def test_the_checker_sees_input_output_and_expected_text(self, score: Score) -> None:
        verifier = self._verifier("int(output) == -int(expected) == -2 * int(stdin)")
        assert score(verifier, "print(-2 * int(input()))").passed
        verdict = score(verifier, "print(2 * int(input()))")
        assert verdict.reason == "case 1 of 4: rejected by the checker"

    def test_a_partial_score_counts_with_partial_credit(self, score: Score) -> None:
        verdict = score(self._verifier("0.25", partial_credit=True), "print(1)")
        assert (verdict.score, verdict.status) == (0.25, Status.FAILED)

    def test_output_that_breaks_the_checker_scores_zero_when_the_reference_passes(
        self, score: Score
    ) -> None:
        verifier = self._verifier("int(output) == int(expected)")
        reference = "print(2 * int(input()))"
        verdict = score(verifier, "print('text')", reference=reference)
        assert (verdict.status, verdict.score) == (Status.ERROR, 0.0)

    def test_a_checker_that_breaks_on_the_reference_too_leaves_it_unscored(
        self, score: Score
    ) -> None:
        source = "print(2 * int(input()))"
        verdict = score(self._verifier("1 / 0"), source, reference=source)
        assert verdict.status is Status.UNSCORED

    def test_a_run_that_failed_does_not_reach_the_checker(self, score: Score) -> None:
        assert score(self._verifier("True"), "raise SystemExit(1)").status is Status.ERROR

    def test_bytes_that_are_not_utf_8_reach_the_checker_as_replacements(self, score: Score) -> None:
        verifier = self._verifier("output == chr(0xFFFD)")
        assert score(verifier, "import os; os.write(1, b'\\xff')").passed


@needs_cc
class TestC:
    RIGHT = (
        '#include <stdio.h>\nint main(void){int n;scanf("%d",&n);printf("%d\\n",2*n);return 0;}\n'
    )

    def _verifier(self, **options: Any) -> StdioVerifier:
        return doubles(language="c", limits=Limits(wall_s=60.0), **options)

    @pytest.mark.slow
    def test_a_right_program_passes(self, score: Score) -> None:
        assert score(self._verifier(), self.RIGHT).passed
        assert score(self._verifier(), f"Here:\n```c\n{self.RIGHT}```\n").passed

    @pytest.mark.parametrize(
        ("body", "status", "reason"),
        [
            ("return 0;", Status.FAILED, "wrong answer"),
            ('printf("2"); return 4;', Status.ERROR, "exited with code 4"),
            ("int *p = 0; return *(volatile int *)p;", Status.ERROR, "ended by signal 11"),
            ("return missing;", Status.INVALID, "it does not build"),
        ],
    )
    def test_a_wrong_program_is_judged_by_how_it_ended(
        self, score: Score, body: str, status: Status, reason: str
    ) -> None:
        verdict = score(self._verifier(), f"#include <stdio.h>\nint main(void){{{body}}}\n")
        assert (verdict.status, verdict.score) == (status, 0.0)
        assert reason in verdict.reason

    @pytest.mark.slow
    def test_a_loop_ends_at_the_limit(self, score: Score) -> None:
        verifier = doubles(language="c", limits=Limits(wall_s=1.0))
        source = "int main(void){volatile int x = 1; while (x); return 0;}\n"
        assert score(verifier, source).status is Status.TIMEOUT

    def test_a_program_cannot_write_its_own_end(self, score: Score) -> None:
        source = (
            "#include <unistd.h>\nint main(void){for (int fd = 0; fd < 64; fd++)"
            ' write(fd, "[null,\\"exit\\",0,0,0]\\n", 20); return 9;}\n'
        )
        assert "exited with code 9" in score(self._verifier(), source).reason

    def test_the_math_library_is_linked(self, score: Score) -> None:
        source = (
            "#include <math.h>\n#include <stdio.h>\nint main(void){double n;"
            'scanf("%lf",&n);printf("%.0f\\n",2*sqrt(n*n));return 0;}\n'
        )
        assert score(self._verifier(), source).passed

    def test_the_canary_builds_and_is_rejected(self, score: Score) -> None:
        verifier = self._verifier()
        assert score(verifier, verifier.canary()).status is Status.FAILED


@pytest.mark.skipif(shutil.which("c++") is None, reason="no C++ compiler")
class TestCpp:
    @pytest.mark.slow
    def test_a_right_program_passes_and_a_wrong_one_does_not(self, score: Score) -> None:
        verifier = doubles(language="cpp", limits=Limits(wall_s=60.0, cpu_s=20.0))
        source = "#include <iostream>\nint main(){{int n;std::cin>>n;std::cout<<{}*n;}}\n"
        assert score(verifier, source.format(2)).passed
        assert score(verifier, source.format(3)).status is Status.FAILED
