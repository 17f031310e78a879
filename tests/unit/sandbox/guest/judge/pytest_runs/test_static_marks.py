"""Marks count as the author's where the suite's text decides them, and nowhere else."""

import pytest

from unhack.sandbox.guest.judge.pytest_runs.static_marks import static_marks

HEAD = "import sys, pytest, unittest, solution\n"


@pytest.mark.parametrize(
    ("decorator", "decided"),
    [
        ("@pytest.mark.skip", {"skip"}),
        ("@pytest.mark.skip(reason='later')", {"skip"}),
        ("@unittest.skip('later')", {"skip"}),
        ("@pytest.mark.skipif(sys.version_info < (3, 8), reason='old')", {"skip"}),
        ("@pytest.mark.xfail(strict=True, raises=TypeError)", {"xfail"}),
        ("@pytest.mark.xfail(sys.platform == 'win32', reason='x')", {"xfail"}),
        ("@pytest.mark.parametrize('n', [1, pytest.param(2, marks=pytest.mark.xfail)])", {"xfail"}),
        ("@pytest.mark.skipif(not hasattr(solution, 'f'), reason='x')", set[str]()),
        ("@pytest.mark.skipif('solution.flag')", set[str]()),
        ("@pytest.mark.skipif(sys.modules['solution'].flag, reason='x')", set[str]()),
        ("@pytest.mark.skipif(flag, reason='x')", set[str]()),
        ("@(pytest.mark.skip if solution.flag else str)", set[str]()),
        (
            "@pytest.mark.parametrize('n', [pytest.param(n, marks=pytest.mark.skip)"
            " for n in solution.hard])",
            set[str](),
        ),
        ("@pytest.mark.skip\n@pytest.mark.skipif(solution.flag, reason='x')", set[str]()),
        ("@pytest.mark.slow", set[str]()),
    ],
)
def test_a_decorator_decides_when_it_names_nothing_of_the_solution(
    decorator: str, decided: set[str]
) -> None:
    source = f"{HEAD}{decorator}\ndef test_it():\n    pytest.skip('no')\n"
    assert static_marks(source) == {"test_it": decided}


def test_marks_of_modules_and_classes_hold_for_what_is_in_them() -> None:
    source = (
        "pytestmark = [pytest.mark.skip]\n"
        "@pytest.mark.xfail\nclass TestA:\n    def test_b(self): ...\n"
        "def test_c(): ...\n"
        "if solution.flag:\n    def test_d(): ...\n"
    )
    assert static_marks(source) == {"TestA.test_b": {"skip", "xfail"}, "test_c": {"skip"}}


def test_no_text_is_an_error() -> None:
    assert static_marks("def (") == {}
    assert static_marks("\0") == {}
