"""Generated packages run in this process: apart from each other, bounded, with an error's lines."""

import sys

from unhack_suites.repos.loader import Loaded
from unhack_suites.repos.running import LocalRunner, ids_of

FILES = {
    "pkg/__init__.py": "from .core import add, State\n\n__all__ = ['add', 'State']\n",
    "pkg/core.py": (
        "class State:\n    count = 0\n\n\ndef add(a, b):\n    State.count += 1\n    return a + b\n"
    ),
}
TESTS = {
    "tests/test_a.py": (
        "import pytest\n\nfrom pkg import State, add\n\n\n"
        "def test_sum():\n    assert add(1, 2) == 3\n\n\n"
        "def test_count():\n    assert State.count == 1\n\n\n"
        "def test_raises():\n    with pytest.raises(TypeError):\n        add(1, 'x')\n\n\n"
        "def test_wrong():\n    assert add(2, 2) == 5\n"
    )
}


def test_every_test_has_its_result_and_runs_in_order():
    ran = LocalRunner()(FILES, TESTS)
    assert list(ran) == ids_of(TESTS)
    assert [one.passed for one in ran.values()] == [True, True, True, False]
    assert ran["tests/test_a.py::test_wrong"].error == "AssertionError: 4 == 5"
    assert "pkg" not in sys.modules


def test_a_test_may_run_alone_on_a_fresh_package():
    name = "tests/test_a.py::test_count"
    assert not LocalRunner()(FILES, TESTS, (name,))[name].passed


def test_an_endless_loop_ends_and_is_told_apart():
    files = {"pkg/__init__.py": "def add(a, b):\n    while True:\n        a = b\n\nState = 1\n"}
    first = next(iter(LocalRunner()(files, TESTS).values()))
    assert first.endless
    assert not first.passed


def test_no_except_catches_the_end_of_the_steps():
    source = (
        "def add(a, b):\n    try:\n        while True:\n            a = b\n"
        "    except Exception:\n        return 3\n\nState = 1\n"
    )
    assert next(iter(LocalRunner()({"pkg/__init__.py": source}, TESTS).values())).endless


def test_a_file_that_cannot_be_imported_fails_before_the_body():
    ran = LocalRunner()({"pkg/__init__.py": "add = 1\n"}, TESTS)
    assert not any(one.passed or one.in_body for one in ran.values())


def test_an_error_names_the_lines_on_its_way():
    files = {**FILES, "pkg/core.py": FILES["pkg/core.py"].replace("a + b", "a + missing")}
    ran = LocalRunner()(files, TESTS)["tests/test_a.py::test_sum"]
    assert [(one.path, one.function) for one in ran.spots] == [
        ("tests/test_a.py", "test_sum"), ("pkg/core.py", "add")
    ]  # fmt: skip
    assert ran.error.startswith("NameError")


def test_two_loads_share_nothing():
    one, two = Loaded(FILES), Loaded(FILES)
    one.module("pkg").add(1, 1)
    assert two.module("pkg").State.count == 0


def test_the_distance_counts_calls_between_test_and_fault():
    files = {
        "pkg/__init__.py": "from .core import add, State\n",
        "pkg/core.py": "State = 1\n\ndef add(a, b):\n    return inner(a, b)\n\n"
        "def inner(a, b):\n    return a + b\n",
    }
    runner = LocalRunner(watched="pkg/core.py:inner")
    runner(files, TESTS)
    assert runner.depths["tests/test_a.py::test_sum"] == 2
    assert "tests/test_a.py::test_count" not in runner.depths
