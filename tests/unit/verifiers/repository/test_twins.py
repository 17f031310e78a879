"""Each test stands once, as itself or as its twin, under names that tell nothing."""

import ast
import re
from random import Random

from unhack.verifiers.repository.twins import rounds, written

TEXT = '''"""Tests."""
from __future__ import annotations
import unittest
from pkg import f

def test_one():
    assert f(1) == 1

def test_two():
    assert f(2) == 4

def test_silent():
    f(3)

def helped():
    test_named()

def test_named():
    assert f(5) == 25

class TestMore:
    def test_one(self):
        assert f(4) == 16
'''
WANTED = [("t.py", name) for name in ("test_one", "test_two", "test_silent", "test_named")]


def made(seed: int, twinned: list[tuple[str, str]] = WANTED, **more: object):
    return written({"t.py": TEXT}, WANTED, twinned, random=Random(seed), **more)  # type: ignore[arg-type]


def test_names_of_wanted_tests_do_not_stand_in_the_text():
    suite = made(1)
    names = {node.name for node in ast.walk(ast.parse(suite.sources["t.py"]))
             if isinstance(node, ast.FunctionDef)}  # fmt: skip
    assert not names & {"test_one", "test_two", "test_silent"}
    assert "test_named" in names  # the file calls it by its name


def test_originals_and_twins_are_told_apart_by_the_host_alone():
    suite = made(2, WANTED[:1])
    assert sorted(suite.originals.values()) == ["test_named", "test_silent", "test_two"]
    assert {place[0] for place in suite.twins.values()} == {"test_one"}
    assert set(suite.functions) == {name for _, name in (*suite.originals, *suite.twins)}
    assert suite.untwinned == {("t.py", "test_silent")}


def test_tests_keep_their_order_and_their_names_keep_theirs():
    for seed in range(10):
        suite = made(seed)
        found = {**suite.originals, **{key: name for key, (name, _) in suite.twins.items()}}
        body = ast.parse(suite.sources["t.py"]).body
        names = [node.name for node in body if isinstance(node, ast.FunctionDef)]
        order = [found["t.py", name] for name in names if ("t.py", name) in found]
        assert order == ["test_one", "test_two", "test_silent", "test_named"]
        free = sorted(name for (_, name), test in found.items() if test != "test_named")
        assert [found["t.py", name] for name in free] == ["test_one", "test_silent", "test_two"]


def test_a_suite_with_twins_has_the_form_and_the_values_of_one_without():
    text = "".join(
        f"def test_{n}():\n    assert f({n}) == {value}\n" for n, value in enumerate((7, 5, 8, 6))
    )
    wanted = [("m.py", f"test_{n}") for n in range(4)]
    texts = [
        written({"m.py": text}, wanted, some, random=Random(3)).sources["m.py"]
        for some in ((), wanted)
    ]
    forms = [re.sub(r"test_\w+|\d+", "X", one) for one in texts]
    assert forms[0] == forms[1]
    values = [sorted(re.findall(r"== (\d)", one)) for one in texts]
    assert values[0] == values[1]
    assert all(
        one != two for one, two in zip(*(re.findall(r"== (\d)", t) for t in texts), strict=True)
    )


def test_words_that_say_what_is_meant_are_left_out():
    text = 'def test_one():\n    """91 is none."""\n    assert not f(91), "no prime"\n'
    suite = written({"t.py": text}, [("t.py", "test_one")], (), random=Random(0))
    assert "91 is none" not in suite.sources["t.py"]
    assert "no prime" not in suite.sources["t.py"]


def test_few_tests_are_run_more_often():
    assert [rounds(count) for count in (1, 2, 4, 5, 100)] == [5, 3, 2, 1, 1]


def test_a_test_with_weak_twins_alone_is_named():
    suite = made(3, barred={("t.py", "test_two", 0)})
    assert ("test_two", 0) not in suite.twins.values()
    assert ("test_two", -1) in suite.twins.values()
    assert suite.weak == {("t.py", "test_two")}


def test_the_docstring_and_the_future_imports_stay_first():
    body = ast.parse(made(4).sources["t.py"]).body
    assert isinstance(body[0], ast.Expr)
    assert isinstance(body[1], ast.ImportFrom)
