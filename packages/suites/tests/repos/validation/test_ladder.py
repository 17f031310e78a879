"""Cheap searches repair what is cheap to repair, and see visible tests only."""

from random import Random

from unhack_suites.repos.running import LocalRunner
from unhack_suites.repos.validation.ladder import RUNGS, climb

RIGHT = "def most(a, b):\n    if a < b:\n        return b\n    return a\n"
WRONG = {"pkg/__init__.py": RIGHT.replace("<", ">")}
VISIBLE = {
    "tests/test_it.py": (
        "from pkg import most\n\n\ndef test_one():\n    assert most(1, 2) == 2\n\n\n"
        "def test_two():\n    assert most(5, 2) == 5\n"
    )
}


def climbed(files, visible, rung):
    return climb(files, visible, rung=rung, rng=Random(1), run=LocalRunner())


def test_a_search_undoes_a_slip_that_visible_tests_show():
    found = climbed(WRONG, VISIBLE, "search")
    assert all(ran.passed for ran in LocalRunner()(found, VISIBLE).values())


def test_without_a_failing_visible_test_nothing_is_changed():
    assert RUNGS
    for rung in RUNGS:
        assert climbed({"pkg/__init__.py": RIGHT}, VISIBLE, rung) == {"pkg/__init__.py": RIGHT}
        assert climbed(WRONG, {}, rung) == WRONG
