"""Slips as edits of text, and faults that tests prove."""

import ast
from random import Random

import pytest

from unhack_suites.repos.catalogue import FAMILIES
from unhack_suites.repos.faults.borders import border_slips, silent_slips
from unhack_suites.repos.faults.drawing import KINDS, all_slips, draw_faults
from unhack_suites.repos.faults.edits import apply, apply_all, read
from unhack_suites.repos.faults.operators import slips
from unhack_suites.repos.repository import draw_repository
from unhack_suites.repos.running import LocalRunner

SOURCE = '''\
LIMIT = 3
NAMES = {"a": min, "b": max}


def cut(values, most=10, loud=False):
    """A comment."""
    if most < 1 and not loud:
        raise ValueError("most < 1")
    kept = list(values)  # a copy
    key = (most, loud)
    kept.append(key)
    return kept[: most + 1]
'''


def texts(found):
    return {(edit.operator, apply(SOURCE, [edit]).count("\n")) for edit in found}


def results(found):
    return [apply(SOURCE, [edit]) for edit in found]


def test_slips_keep_the_layout_of_everything_else():
    changed_ones = [*results(slips(read("m.py", SOURCE)))]
    assert changed_ones
    for changed in changed_ones:
        same = [line for line in changed.splitlines() if line in SOURCE.splitlines()]
        assert len(same) >= len(SOURCE.splitlines()) - 2
        ast.parse(changed)


@pytest.mark.parametrize(
    "line",
    ["    if most <= 1 and not loud:", "    if most < 1 or not loud:", "    if most < 1:",
     "    if most < 1 and loud:", "    if most < 2 and not loud:", "    return kept[: most - 1]",
     "    kept.extend(key)", "    if loud < 1 and not loud:"],
)  # fmt: skip
def test_a_usual_slip_is_found(line):
    assert any(line in changed.splitlines() for changed in results(slips(read("m.py", SOURCE))))


def test_the_words_of_an_exception_are_left_alone():
    assert all('ValueError("most < 1")' in text or "raise" not in text
               for text in results(slips(read("m.py", SOURCE))))  # fmt: skip


def test_silent_slips_raise_nothing():
    found = list(silent_slips(read("m.py", SOURCE)))
    assert {edit.operator for edit in found} == {"wrong default", "lost copy", "lost part of a key"}
    assert all(edit.silent for edit in found)


def test_border_slips_need_another_file_that_cares():
    other = read("n.py", "from m import cut\n\ncut([1], 2)\n")
    both = {"m.py": read("m.py", SOURCE), "n.py": other}
    assert {edit.operator for edit in border_slips(both)} == {"shared constant", "swapped entries"}
    two = SOURCE.replace("most=10", "most")
    found = {edit.operator for edit in border_slips({"m.py": read("m.py", two), "n.py": other})}
    assert "swapped parameters" in found
    alone = {edit.operator for edit in border_slips({"m.py": read("m.py", two)})}
    assert "swapped parameters" not in alone


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_fault_of_each_kind_breaks_some_tests_and_leaves_others(kind):
    repository = draw_repository(FAMILIES["cache"], "unit")
    files, tests = repository.sources(), repository.suite("hidden")
    faults = draw_faults(files, tests, kind=kind, rng=Random(1), run=LocalRunner())
    assert faults is not None
    failed = [ran for ran in faults.results.values() if not ran.passed]
    assert 0 < len(failed) <= len(faults.results) / 2
    assert all(ran.in_body and not ran.endless for ran in failed)
    assert (len(faults.edits) > 1) == (kind == "combined")
    for edit in faults.edits if kind == "combined" else ():
        less = apply_all(files, [edit])
        assert not all(ran.passed for ran in LocalRunner()(less, tests).values())


def test_all_slips_of_a_package_are_many_and_reproducible():
    files = draw_repository(FAMILIES["routing"], "unit").sources()
    assert len(all_slips(files)) > 100
    assert all_slips(files) == all_slips(files)
