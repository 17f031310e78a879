"""A repository is judged by its expected tests, on a fresh base, in two named modes."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from unhack import Limits, Pool, Problem, Task, run_batch
from unhack.core.errors import BatchUnscoredError
from unhack.core.verdict import Seal, Status, Verdict
from unhack.verifiers.repository import RepositoryVerifier, pack_files
from unhack.verifiers.script import Mode

CORE = """\
from .table import SCALE

def scaled(values):
    return [value * SCALE for value in values]

def checked(value):
    if value < 0:
        raise ValueError("negative")
    return value
"""
BASE = {
    "src/pkg/__init__.py": b"from .core import checked, scaled\n",
    "src/pkg/core.py": CORE.replace("* SCALE", "+ SCALE").encode(),
    "src/pkg/table.py": b"SCALE = 3\n",
    "tests/__init__.py": b"",
    "tests/values.txt": b"2 5",
    "tests/test_core.py": b"# what the policy sees\n",
}
TESTS = {
    "tests/conftest.py": """
import pytest
from pathlib import Path

@pytest.fixture
def values():
    return [int(part) for part in Path(__file__).with_name("values.txt").read_text().split()]
""",
    "tests/test_core.py": """
import unittest
import pytest
import pkg
from pkg import scaled
from .told import TOLD

def test_scaled(values):
    assert scaled(values) == [6, 15]

@pytest.mark.parametrize(("given", "wanted"), [(1, 3), (2, 6), (0, 0)])
def test_rows(given, wanted):
    assert scaled([given]) == [wanted] or scaled([given]) == wanted

def test_told():
    assert scaled([4])[0] == TOLD

def test_negative():
    with pytest.raises(ValueError, match="negative"):
        pkg.checked(-1)

class TestMore(unittest.TestCase):
    def test_more(self):
        self.assertEqual(scaled([10]), [30])

@pytest.mark.skip
def test_skipped():
    assert scaled([]) == []

@pytest.mark.xfail
def test_expected_to_fail():
    assert scaled([]) == [1]

@pytest.mark.xfail
def test_unexpected_success():
    assert scaled([]) == []
""",
    "tests/told.py": "TOLD = 12\n",
}
NAMES = (
    "test_scaled", "test_rows[1-3]", "test_rows[2-6]", "test_rows[0-0]", "test_told",
    "test_negative", "TestMore::test_more",
)  # fmt: skip
EXPECTED = tuple(f"tests/test_core.py::{name}" for name in NAMES)
RIGHT = pack_files({"src/pkg/core.py": CORE})


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    made = Pool(slots=1)
    yield made
    made.close()


def verifier(mode: Mode, **more: object) -> RepositoryVerifier:
    made = RepositoryVerifier(TESTS, BASE, ("src/pkg/",), EXPECTED, mode)
    return replace(made, **more)  # type: ignore[arg-type]


def judge(
    pool: Pool, completion: str, mode: Mode, *, reference: str | None = RIGHT, **more: object
) -> Verdict:
    task = Task(Problem("pkg", "", reference=reference), verifier(mode, **more))
    try:
        return run_batch(task, [completion], backend=pool).verdicts[0]
    except BatchUnscoredError as error:
        return error.batch.verdicts[0]


@pytest.mark.slow
@pytest.mark.parametrize("mode", list(Mode))
def test_a_right_solution_passes_and_its_seal_is_named(pool: Pool, mode: Mode):
    verdict = judge(pool, RIGHT, mode)
    assert verdict.status is Status.PASSED, verdict.reason
    assert verdict.score == 1.0
    assert verdict.seal is (Seal.SEALED if mode is Mode.SEALED else Seal.AS_WRITTEN)
    assert len(verdict.cases) == len(EXPECTED)
    assert verdict.details["mode"] == mode.value


@pytest.mark.slow
@pytest.mark.parametrize("mode", list(Mode))
def test_the_base_as_it_stands_fails_the_tests_that_look_at_the_fault(pool: Pool, mode: Mode):
    verdict = judge(pool, pack_files({}), mode, partial_credit=True)
    failed = {name for name, case in zip(NAMES, verdict.cases, strict=True) if not case.passed}
    assert failed == set(NAMES) - {"test_negative"}
    assert verdict.score == pytest.approx(1 / 7)
    assert judge(pool, pack_files({}), mode).score == 0.0


@pytest.mark.slow
@pytest.mark.parametrize("mode", list(Mode))
@pytest.mark.parametrize("name", ["test_skipped", "test_expected_to_fail",
                                  "test_unexpected_success", "test_absent"])  # fmt: skip
def test_an_expected_test_without_a_plain_pass_is_a_failure(pool: Pool, mode: Mode, name: str):
    expected = (*EXPECTED, f"tests/test_core.py::{name}")
    verdict = judge(pool, RIGHT, mode, expected=expected)
    assert verdict.score == 0.0
    assert [case.passed for case in verdict.cases] == [True] * len(EXPECTED) + [False]


@pytest.mark.parametrize("mode", list(Mode))
def test_a_file_outside_the_declared_paths_is_invalid_and_no_error(pool: Pool, mode: Mode):
    for files in ({"tests/test_core.py": ""}, {"src/pkg/../../x.py": ""}, {"setup.py": None}):
        verdict = judge(pool, pack_files({"src/pkg/core.py": CORE, **files}), mode)
        assert verdict.status is Status.INVALID
        assert verdict.score == 0.0
    assert judge(pool, "no JSON", mode).status is Status.INVALID


@pytest.mark.parametrize("mode", list(Mode))
def test_a_task_without_a_reference_is_not_judged(pool: Pool, mode: Mode):
    verdict = judge(pool, RIGHT, mode, reference=None)
    assert verdict.score is None
    assert "reference" in verdict.reason


@pytest.mark.parametrize("mode", list(Mode))
@pytest.mark.parametrize(
    "broken",
    ["def (", "raise SystemExit(0)", "import os; os._exit(0)", "import pkg.absent",
     "import signal, os; os.kill(os.getpid(), signal.SIGKILL)", "raise KeyboardInterrupt",
     "import sys; sys.setrecursionlimit(10)", "raise MemoryError", "(" * 50_000],
)  # fmt: skip
def test_whatever_breaks_the_judging_is_a_scored_zero(pool: Pool, mode: Mode, broken: str):
    verdict = judge(pool, pack_files({"src/pkg/table.py": f"SCALE = 3\n{broken}\n"}), mode)
    assert verdict.score == 0.0


@pytest.mark.slow
@pytest.mark.parametrize("mode", list(Mode))
def test_a_limit_that_is_hit_is_a_scored_zero(pool: Pool, mode: Mode):
    limits = Limits(wall_s=6, cpu_s=3, memory_bytes=1 << 30)
    loop = CORE + "\nwhile True: pass\n"
    verdict = judge(pool, pack_files({"src/pkg/core.py": loop}), mode, limits=limits)
    assert verdict.status is Status.TIMEOUT
    assert verdict.score == 0.0


@pytest.mark.slow
@pytest.mark.parametrize("mode", list(Mode))
def test_a_package_may_be_moved_and_split(pool: Pool, mode: Mode):
    files = {
        "src/pkg/core.py": None,
        "src/pkg/inner/__init__.py": "from .work import checked, scaled\n",
        "src/pkg/inner/work.py": CORE.replace(".table", "..table"),
        "src/pkg/__init__.py": "import importlib\n\ndef __getattr__(name):\n"
        "    return getattr(importlib.import_module('pkg.inner'), name)\n",
        "src/pkg/conftest.py": "raise RuntimeError\n",
    }
    verdict = judge(pool, pack_files(files), mode)
    assert verdict.passed, verdict.reason
    assert verdict.details["left_out"] == ["src/pkg/conftest.py"]


@pytest.mark.slow
def test_twins_that_a_right_solution_passes_are_not_held_against_it(pool: Pool):
    judged = replace(
        verifier(Mode.AS_WRITTEN),
        tests={"tests/test_core.py": "from pkg import scaled\n\ndef test_free():\n"
               "    for value in []:\n        assert scaled(value) == 1\n"
               "    assert scaled([1]) == [3]\n"},
        expected=("tests/test_core.py::test_free",),
    )  # fmt: skip
    task = Task(Problem("pkg", "", reference=RIGHT), judged)
    for _ in range(4):
        assert run_batch(task, [RIGHT], backend=pool, dedupe=False).verdicts[0].passed


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"expected": ()}, "expected"),
        ({"expected": ("tests/other.py::test_x",)}, "none of the test files"),
        ({"editable": ()}, "editable"),
        ({"expected": EXPECTED * 2}, "once"),
        ({"editable": ("src/pluggy/",)}, "the judge itself imports pluggy"),
    ],
)
def test_a_verifier_that_could_not_judge_is_refused(change: dict[str, object], text: str):
    with pytest.raises(ValueError, match=text):
        verifier(Mode.SEALED, **change)


def test_a_suite_without_any_expectation_is_refused_as_written():
    tests = {"tests/test_core.py": "import pkg\n\ndef test_loads():\n    pkg.scaled([1])\n"}
    with pytest.raises(ValueError, match="sealed"):
        verifier(Mode.AS_WRITTEN, tests=tests, expected=("tests/test_core.py::test_loads",))


@pytest.mark.sample
@pytest.mark.slow
def test_what_a_twin_left_undone_is_not_held_against_a_right_solution(pool: Pool):
    tests = {
        "tests/test_core.py": "import pytest\nfrom pkg import scaled\nSEEN = []\n\n"
        "@pytest.fixture\ndef seen():\n    assert not SEEN\n    SEEN.append(1)\n    return SEEN\n\n"
        "@pytest.mark.parametrize('n', range(4))\ndef test_seen(seen, n):\n"
        "    assert scaled([1]) == [3]\n    assert SEEN.pop() == 1\n"
    }
    names = tuple(f"tests/test_core.py::test_seen[{n}]" for n in range(4))
    for _ in range(3):
        assert judge(pool, RIGHT, Mode.AS_WRITTEN, tests=tests, expected=names).passed


@pytest.mark.parametrize("mode", list(Mode))
def test_a_test_file_that_cannot_be_imported_fails_its_own_tests_only(pool: Pool, mode: Mode):
    tests = {**TESTS, "tests/test_table.py": "import pkg.table as t\n\ndef test_scale():\n"
             "    assert t.SCALE == 3\n"}  # fmt: skip
    expected = (*EXPECTED, "tests/test_table.py::test_scale")
    broken = pack_files({"src/pkg/core.py": "", "src/pkg/__init__.py": ""})
    verdict = judge(pool, broken, mode, tests=tests, expected=expected, partial_credit=True)
    assert [case.passed for case in verdict.cases] == [False] * len(EXPECTED) + [True]


@pytest.mark.slow
def test_an_answer_after_the_judge_has_gone_is_late_and_breaks_nothing(pool: Pool):
    late = CORE.replace("return [value", "import time; time.sleep(3)\n    return [value")
    limits = Limits(wall_s=2.5, cpu_s=20, memory_bytes=1 << 30)
    verdict = judge(pool, pack_files({"src/pkg/core.py": late}), Mode.SEALED, limits=limits)
    assert verdict.status is Status.TIMEOUT
    assert verdict.score == 0.0


PREPARED = {
    "tests/test_core.py": """
import unittest
from pkg import scaled
SEEN = []

def test_zebra():
    SEEN.extend(scaled([1, 2]))
    assert len(SEEN) == 2

def test_apple():
    assert SEEN == [3, 6]
    SEEN.append(9)

class TestOrder(unittest.TestCase):
    def test_b_second(self):
        self.assertEqual(SEEN.pop(), 9)

    def test_a_first(self):
        self.assertEqual(SEEN[-1], 9)

def test_last():
    assert SEEN == [3, 6]
"""
}


@pytest.mark.parametrize("mode", list(Mode))
def test_tests_that_prepare_one_another_keep_their_order(pool: Pool, mode: Mode):
    names = ("test_zebra", "test_apple", "TestOrder::test_a_first", "TestOrder::test_b_second",
             "test_last")  # fmt: skip
    expected = tuple(f"tests/test_core.py::{name}" for name in names)
    verdict = judge(pool, RIGHT, mode, tests=PREPARED, expected=expected)
    assert verdict.passed, verdict.reason
    assert not judge(pool, pack_files({}), mode, tests=PREPARED, expected=expected).passed


@pytest.mark.sample
@pytest.mark.slow
def test_tests_beside_the_sealed_ones_are_judged_as_written(pool: Pool):
    beside = EXPECTED[1:3]
    verdict = judge(pool, RIGHT, Mode.SEALED, beside=beside)
    assert verdict.passed, verdict.reason
    assert verdict.seal is Seal.AS_WRITTEN
    assert verdict.details["beside"] == 2
    assert verdict.details["twins"] > 0
    assert len(verdict.cases) == len(EXPECTED)
    wrong = judge(pool, pack_files({}), Mode.SEALED, beside=beside, partial_credit=True)
    assert wrong.score == 1 / 7
    assert wrong.cases[EXPECTED.index("tests/test_core.py::test_negative")].passed


def test_tests_beside_the_sealed_ones_are_expected_ones():
    with pytest.raises(ValueError, match="none of the expected"):
        verifier(Mode.SEALED, beside=("tests/test_core.py::test_else",))
    with pytest.raises(ValueError, match="exceptions"):
        verifier(Mode.AS_WRITTEN, beside=EXPECTED[:1])


@pytest.mark.slow
def test_a_test_with_weak_twins_alone_is_named_in_the_verdict(pool: Pool):
    text = "from pkg import scaled\n\ndef test_some():\n    assert scaled([1])\n\n"
    text += "def test_value():\n    assert scaled([1]) == [3]\n"
    tests = {"tests/test_core.py": text}
    names = tuple(f"tests/test_core.py::{name}" for name in ("test_some", "test_value"))
    verdict = judge(pool, RIGHT, Mode.AS_WRITTEN, tests=tests, expected=names)
    assert verdict.passed, verdict.reason
    assert verdict.details["weak_twins"] == [names[0]]
