"""Twins stand beside their tests under names that tell nothing."""

import ast
from random import Random

from unhack.verifiers.repository.twins import twin_suite

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


def made(seed: int, **more: object):
    return twin_suite({"t.py": TEXT}, WANTED, random=Random(seed), **more)  # type: ignore[arg-type]


def test_names_of_wanted_tests_do_not_stand_in_the_text():
    suite = made(1)
    names = {node.name for node in ast.walk(ast.parse(suite.sources["t.py"]))
             if isinstance(node, ast.FunctionDef)}  # fmt: skip
    assert not names & {"test_one", "test_two", "test_silent"}
    assert "test_named" in names  # the file calls it by its name


def test_originals_and_twins_are_told_apart_by_the_host_alone():
    suite = made(2)
    assert sorted(suite.originals.values()) == sorted(name for _, name in WANTED)
    assert {place[0] for place in suite.twins.values()} == {"test_one", "test_two", "test_named"}
    assert set(suite.functions) == {name for _, name in (*suite.originals, *suite.twins)}
    assert suite.untwinned == {("t.py", "test_silent")}


def test_the_order_of_a_test_and_its_twin_is_not_fixed():
    firsts: set[bool] = set()
    for seed in range(30):
        suite = made(seed)
        names = [node.name for node in ast.parse(suite.sources["t.py"]).body
                 if isinstance(node, ast.FunctionDef)]  # fmt: skip
        tests = [("t.py", name) for name in names if name.startswith("test_")]
        firsts.add(tests[0] in suite.twins)
    assert firsts == {True, False}


def test_few_tests_get_many_twins():
    one = twin_suite({"t.py": TEXT}, [("t.py", "test_two")], random=Random(0))
    assert len(one.twins) == 7
    many = "".join(f"def test_{n}():\n    assert f({n}) == {n}\n" for n in range(20))
    wanted = [("m.py", f"test_{n}") for n in range(20)]
    assert len(twin_suite({"m.py": many}, wanted, random=Random(0)).twins) == 20


def test_barred_edits_are_not_made():
    suite = made(3, barred={("t.py", "test_two", 0)})
    assert ("test_two", 0) not in suite.twins.values()
    assert ("test_two", -1) in suite.twins.values()


def test_the_docstring_and_the_future_imports_stay_first():
    body = ast.parse(made(4).sources["t.py"]).body
    assert isinstance(body[0], ast.Expr)
    assert isinstance(body[1], ast.ImportFrom)
