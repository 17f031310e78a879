"""What is immortal is not counted, and works as before."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from unhack.sandbox.guest.server import immortal

PROGRAM = """
import gc, json, sys

class Node:
    def __init__(self, name):
        self.name, self.others = name, []

kept = Node("kept")
kept.others.append(Node("below"))
def greet(name="nobody"):
    return "hello " + name
pair = (1.5, "a text that nobody interned")

from unhack.sandbox.guest.server import immortal
fixed = immortal.fixed_count()
made = immortal.make_all_immortal()
again = immortal.make_all_immortal()
def count(value):
    return immortal._count_of(value)
objects = [kept, kept.others[0], greet, greet.__code__, greet.__code__.co_consts, pair, pair[1]]
before = [count(item) for item in objects]
more = [objects for _ in range(100)]
after = [count(item) for item in objects]

class Fresh:
    ended = 0
    def __del__(self):
        Fresh.ended += 1

gc.freeze()
gc.unfreeze()
for _ in range(3):
    fresh = Fresh()
    fresh.me, fresh.old = fresh, kept
    kept.others.append(fresh)
    kept.others.pop()
del fresh
gc.collect()
print(json.dumps({"fixed": fixed, "made": made, "again": again, "before": before, "after": after,
                  "ended": Fresh.ended, "greet": greet(), "fresh": count(Fresh())}))
"""


@pytest.fixture(scope="module")
def seen() -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


class TestMakeAllImmortal:
    def test_objects_code_and_what_they_hold_are_no_longer_counted(
        self, seen: dict[str, Any]
    ) -> None:
        if not seen["fixed"]:
            pytest.skip("this interpreter counts every object")
        assert seen["before"] == seen["after"] == [seen["fixed"]] * 7

    def test_a_second_time_finds_next_to_nothing(self, seen: dict[str, Any]) -> None:
        assert seen["again"] <= 100
        assert seen["made"] > 1000 or not seen["fixed"]

    def test_cycles_of_later_objects_are_still_collected(self, seen: dict[str, Any]) -> None:
        assert seen["ended"] >= 3

    def test_later_objects_are_counted(self, seen: dict[str, Any]) -> None:
        assert seen["fresh"] != seen["fixed"]

    def test_functions_run_as_before(self, seen: dict[str, Any]) -> None:
        assert seen["greet"] == "hello nobody"

    def test_an_interpreter_without_immortal_objects_is_left_alone(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(immortal.sys, "version_info", (3, 11, 7))
        assert immortal.fixed_count() == immortal.make_all_immortal() == 0
