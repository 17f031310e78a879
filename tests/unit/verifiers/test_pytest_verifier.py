from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from unhack.core.verdict import Seal, Status, Verdict
from unhack.sandbox.limits import Limits
from unhack.verifiers.pytest import PytestVerifier
from unhack.verifiers.script import Mode

Score = Callable[..., Verdict]
LIMITS = Limits(wall_s=10.0, cpu_s=20.0)
RIGHT = "def f(x): return 2 * x\n"
WRONG = "def f(x): return 3 * x\n"
TESTS = """
from solution import f

def test_doubles_one():
    assert f(1) == 2

def test_leaves_zero():
    assert f(0) == 0
"""


def verifier(tests: str = TESTS, **options: Any) -> PytestVerifier:
    settings: dict[str, Any] = {"limits": LIMITS, **options}
    return PytestVerifier({"test_it.py": tests}, **settings)


@pytest.mark.parametrize("mode", list(Mode))
class TestBothModes:
    @pytest.mark.slow
    def test_a_right_solution_passes_and_a_wrong_one_names_the_test(
        self, score: Score, mode: Mode
    ) -> None:
        right, wrong = score(verifier(mode=mode), RIGHT), score(verifier(mode=mode), WRONG)
        assert (right.status, right.score) == (Status.PASSED, 1.0), right
        assert (wrong.status, wrong.score) == (Status.FAILED, 0.0), wrong
        assert "test_doubles_one" in wrong.reason
        assert [case.passed for case in wrong.cases] == [False, True]
        assert right.seal is (Seal.SEALED if mode is Mode.SEALED else Seal.AS_WRITTEN)

    @pytest.mark.slow
    def test_partial_credit_is_the_share_of_tests(self, score: Score, mode: Mode) -> None:
        assert score(verifier(mode=mode, partial_credit=True), WRONG).score == 0.5

    @pytest.mark.parametrize(
        "body",
        [
            "pytest.skip('no')",
            "pytest.xfail('known')",
            "pytest.importorskip('no_such_module')",
        ],
    )
    def test_a_test_that_does_not_decide_is_not_passed(
        self, score: Score, mode: Mode, body: str
    ) -> None:
        tests = f"import pytest\nfrom solution import f\ndef test_it():\n    {body}\n"
        verdict = score(verifier(tests, mode=mode), RIGHT)
        assert (verdict.status, verdict.score) == (Status.FAILED, 0.0)

    @pytest.mark.parametrize(
        ("mark", "passes"),
        [
            pytest.param("skip", False, marks=pytest.mark.slow),
            pytest.param("skipif(True, reason='x')", False, marks=pytest.mark.slow),
            pytest.param("xfail", False, marks=pytest.mark.slow),
            pytest.param("xfail(strict=True)", False, marks=pytest.mark.slow),
            ("xfail(strict=True, raises=AssertionError)", True),
            ("parametrize('x', [1, 2])", True),
        ],
    )
    def test_marks_do_not_make_a_test_pass(
        self, score: Score, mode: Mode, mark: str, passes: bool
    ) -> None:
        argument = "x" if "param" in mark else ""
        tests = (
            "import pytest\nfrom solution import f\n"
            f"@pytest.mark.{mark}\ndef test_it({argument}):\n"
            f"    assert f(1) == {2 if passes and argument else 3}\n"
        )
        assert score(verifier(tests, mode=mode), RIGHT).passed is passes

    @pytest.mark.slow
    def test_marks_of_the_author_leave_the_other_tests_to_decide(
        self, score: Score, mode: Mode
    ) -> None:
        marked = (
            "import pytest, sys, solution\n"
            "@pytest.mark.skip(reason='later')\ndef test_a():\n    assert solution.f(1) == 3\n"
            "@pytest.mark.skipif(sys.version_info > (3,), reason='old')\ndef test_b():\n"
            "    assert solution.f(1) == 3\n"
            "@pytest.mark.xfail\ndef test_c():\n    assert solution.f(1) == 3\n"
            "def test_d():\n    assert solution.f(1) == 2\n"
        )
        assert score(verifier(marked, mode=mode), RIGHT).passed
        assert score(verifier(marked, mode=mode), "def f(x): return 3\n").score == 0.0
        left = "@pytest.mark.skipif(solution.f(1) != 2, reason='wrong')\ndef test_e(): pass\n"
        assert score(verifier(marked + left, mode=mode), WRONG).score == 0.0
        assert score(verifier(marked + left, mode=mode), RIGHT).passed

    @pytest.mark.slow
    def test_an_end_while_loading_is_told_as_such(self, score: Score, mode: Mode) -> None:
        verdict = score(verifier(mode=mode), "import os\nos._exit(0)\n")
        assert verdict.score == 0.0
        if mode is Mode.SEALED:
            assert verdict.status is Status.ERROR
            assert "ended" in verdict.reason

    def test_every_parameter_is_a_case(self, score: Score, mode: Mode) -> None:
        tests = (
            "import pytest\nfrom solution import f\n"
            "@pytest.mark.parametrize('x', range(5))\n"
            "def test_it(x): assert f(x) == min(2 * x, 6)\n"
        )
        verdict = score(verifier(tests, mode=mode, partial_credit=True), RIGHT)
        assert len(verdict.cases) == 5
        assert verdict.score == 0.8

    def test_fixtures_and_the_judges_conftest_work(self, score: Score, mode: Mode) -> None:
        tests = {
            "conftest.py": "import pytest\n@pytest.fixture\ndef two(): return 2\n",
            "test_it.py": "from solution import f\n"
            "def test_it(two, tmp_path): assert f(1) == two\n",
        }
        made = PytestVerifier(tests, mode=mode, limits=LIMITS)
        assert score(made, RIGHT).passed
        assert not score(made, WRONG).passed

    def test_several_test_files_all_count(self, score: Score, mode: Mode) -> None:
        tests = {
            "test_a.py": "from solution import f\ndef test_a(): assert f(1) == 2\n",
            "test_b.py": "from solution import f\ndef test_b(): assert f(2) == 5\n",
        }
        verdict = score(PytestVerifier(tests, mode=mode, limits=LIMITS), RIGHT)
        assert [case.passed for case in verdict.cases] == [True, False]
        assert "test_b" in verdict.reason

    def test_further_files_can_be_read(self, score: Score, mode: Mode) -> None:
        tests = (
            "from solution import f\ndef test_it(): assert f(1) == int(open('two.txt').read())\n"
        )
        assert score(verifier(tests, mode=mode, files={"two.txt": "2"}), RIGHT).passed

    def test_a_failing_teardown_fails_its_test(self, score: Score, mode: Mode) -> None:
        tests = (
            "import pytest\nfrom solution import f\n@pytest.fixture\ndef t():\n    yield\n"
            "    assert f(1) == 2\ndef test_it(t): pass\n"
        )
        assert score(verifier(tests, mode=mode), RIGHT).passed
        assert not score(verifier(tests, mode=mode), WRONG).passed

    def test_a_completion_without_code_is_invalid(self, score: Score, mode: Mode) -> None:
        verdict = score(verifier(mode=mode), "")
        assert (verdict.status, verdict.score) == (Status.INVALID, 0.0)
        assert "solution.py" in verdict.reason

    def test_named_blocks_make_several_modules(self, score: Score, mode: Mode) -> None:
        tests = "import left, right\ndef test_it(): assert left.f(1) + right.g(1) == 5\n"
        made = verifier(tests, mode=mode, solution_files=("left.py", "right.py"))
        text = (
            "```python left.py\nfrom right import g\ndef f(x): return g(x) - 1\n```\n"
            "```python right.py\ndef g(x): return 3 * x\n```\n"
        )
        assert score(made, text).passed
        one_missing = "```python left.py\ndef f(x): return 2\n```\n"
        assert score(made, one_missing).status is Status.INVALID


class TestSealed:
    def test_a_verifier_without_tests_is_refused(self) -> None:
        with pytest.raises(ValueError, match="would pass everything"):
            PytestVerifier({})

    @pytest.mark.parametrize(
        "source",
        [
            "import pytest\npytest.skip('all', allow_module_level=True)\n" + RIGHT,
            "import sys\nsys.exit(0)\n" + RIGHT,
            "import os\nos._exit(0)\n" + RIGHT,
            "import pytest\ndef f(x): pytest.skip('x')\n",
            "import sys\ndef f(x): sys.exit(0)\n",
            "import os\ndef f(x): os._exit(0)\n",
            "def f(x): raise KeyboardInterrupt\n",
            "import builtins\nbuiltins.all = lambda x: True\n" + WRONG,
            "import os\nopen('conftest.py', 'w').write('x')\n" + WRONG,
            "def f(x):\n    return type('Yes', (int,), {'__eq__': lambda *a: True})(0)\n",
            WRONG + "def pytest_runtest_makereport(item, call): pass\n",
        ],
        ids=lambda text: text[:50],
    )
    def test_no_trick_of_a_wrong_solution_passes(self, score: Score, source: str) -> None:
        verdict = score(verifier(), source, reference=RIGHT)
        assert verdict.score == 0.0

    def test_a_module_that_does_not_load_is_judged_for_that(self, score: Score) -> None:
        assert score(verifier(), "def f(x: pass").status is Status.INVALID
        verdict = score(verifier(), "1 / 0")
        assert verdict.status is Status.ERROR
        assert "ZeroDivisionError" in verdict.reason

    @pytest.mark.slow
    def test_a_solution_that_loops_is_a_time_out(self, score: Score) -> None:
        made = verifier(limits=Limits(wall_s=0.2))
        verdict = score(made, "def f(x):\n    while True: pass\n", reference=RIGHT)
        assert (verdict.status, verdict.score) == (Status.TIMEOUT, 0.0)

    @pytest.mark.slow
    def test_expected_exceptions_can_be_tested(self, score: Score) -> None:
        tests = (
            "import pytest\nfrom solution import f\n"
            "def test_it():\n    with pytest.raises(ValueError, match='negative'):\n        f(-1)\n"
        )
        source = "def f(x):\n    if x < 0: raise ValueError('negative x')\n    return x\n"
        assert score(verifier(tests), source).passed
        assert not score(verifier(tests), RIGHT).passed

    @pytest.mark.slow
    def test_a_name_that_the_solution_lacks_is_held_against_it(self, score: Score) -> None:
        verdict = score(verifier(), "def g(x): return x\n", reference=RIGHT)
        assert (verdict.status, verdict.score) == (Status.ERROR, 0.0)
        assert "cannot import name 'f'" in verdict.reason

    BROKEN = ("def test_it(:", "import no_such_module_at_all\ndef test_it(): pass\n", "1 / 0\n")

    @pytest.mark.slow
    @pytest.mark.parametrize("tests", BROKEN)
    def test_tests_that_cannot_be_collected_pass_nobody(self, score: Score, tests: str) -> None:
        assert not score(verifier(tests), RIGHT, reference=RIGHT).passed

    @pytest.mark.slow
    @pytest.mark.parametrize("tests", BROKEN)
    def test_tests_that_the_reference_cannot_collect_either_leave_it_unscored(
        self, score: Score, tests: str
    ) -> None:
        assert score(verifier(tests), RIGHT, reference=RIGHT).status is Status.UNSCORED

    def test_a_suite_without_tests_leaves_everything_unscored(self, score: Score) -> None:
        verdict = score(verifier("from solution import f\n"), RIGHT, reference=RIGHT)
        assert verdict.status is Status.UNSCORED
        assert "no test was collected" in verdict.reason

    @pytest.mark.parametrize(
        "body", ["open('solution.py').read()", "__import__('subprocess').run(['true'])"]
    )
    def test_a_test_that_breaks_the_seal_is_a_fault(self, score: Score, body: str) -> None:
        tests = f"from solution import f\ndef test_it():\n    {body}\n    assert f(1) == 2\n"
        verdict = score(verifier(tests), RIGHT, reference=RIGHT)
        assert verdict.status is Status.UNSCORED
        assert "as_written" in verdict.reason

    def test_the_canary_of_several_files_is_a_completion_with_all_of_them(
        self, score: Score
    ) -> None:
        tests = "import left, right\ndef test_it(): assert left.f\n"
        made = verifier(tests, solution_files=("left.py", "right.py"))
        assert score(made, made.canary()).status is Status.FAILED
