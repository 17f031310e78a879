"""The judge's modes for text, called as the runner calls them."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

from unhack.sandbox.guest.candidate import runner
from unhack.sandbox.guest.judge import math_tree, modes, text_modes

pytest.importorskip("math_verify")


class Recorder:
    """A channel that keeps its lines, and how many of them were out at each flush."""

    def __init__(self) -> None:
        self.lines: list[Any] = []
        self.flushed: list[int] = []

    def send(self, item: list[Any]) -> None:
        self.lines.append(json.loads(json.dumps(item)))

    def flush(self) -> None:
        self.flushed.append(len(self.lines))


def read(text: str) -> list[Any]:
    channel = Recorder()
    text_modes.run_math_read({"text": text, "percent": "fraction"}, channel)
    [line] = channel.lines
    return line


def compare(gold: str, tree: str) -> Recorder:
    channel = Recorder()
    options = {"percent": "fraction", "evaluated": True, "rel_tol": "0.0", "abs_tol": "0.0"}
    text_modes.run_math_compare({"gold": gold, "tree": tree, **options}, channel)
    return channel


def test_the_judge_offers_the_modes_of_text() -> None:
    assert modes.__name__ in sys.modules
    assert text_modes.MODES.items() <= runner.MODES.items()


def test_reading_gives_a_tree_as_text() -> None:
    kind, name, tree = read(r"\frac{\sqrt{3}}{2}")
    assert (kind, name) == (None, "tree")
    assert math_tree.decode(json.loads(tree)) == math_tree.decode(
        json.loads(read(r"\sqrt{3}/2")[2])
    )


@pytest.mark.parametrize(
    "text", ["", "2 +", "__import__('os')", r"\frac{0}{0}", "\ud800", "[" * 99]
)
def test_what_cannot_be_read_is_told_in_one_short_line(text: str) -> None:
    kind, name, why = read(text)
    assert (kind, name) == (None, "unreadable")
    assert 0 < len(why) <= 200
    assert "\n" not in why


def test_the_gold_answer_is_told_good_before_the_tree_is_looked_at() -> None:
    channel = compare(r"\sqrt{2}", "not even JSON")
    assert channel.lines[0] == [None, "gold"]
    assert channel.flushed == [1]
    assert channel.lines[1][:3] == [None, "equal", False]


def test_a_gold_answer_that_cannot_be_read_is_a_fault_of_the_judge() -> None:
    assert compare("2 + * 3", read("x")[2]).lines[0][:2] == [None, "fault"]


@pytest.mark.parametrize(
    "tree",
    ["null", "[]", '["eval", "1"]', '["Pow", ["int", "0x2"]]', "[" * 99_999, '{"a": 1}', "NaN"],
    ids=lambda tree: tree[:20],
)
def test_a_forged_tree_is_a_wrong_answer(tree: str) -> None:
    assert compare(r"\sqrt{2}", tree).lines[-1][:3] == [None, "equal", False]


def test_a_pattern_that_does_not_compile_is_a_fault_of_the_judge() -> None:
    for pattern, name in (("(a", "fault"), ("a+", "matched")):
        channel = Recorder()
        text_modes.run_regex({"pattern": pattern, "text": "aa"}, channel)
        assert channel.lines[0][1] == name


@pytest.mark.slow
def test_warming_up_needs_math_verify_and_leaves_it_silent(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    text_modes.warm_up()
    assert capfd.readouterr() == ("", "")
    monkeypatch.delitem(sys.modules, "math_verify")
    monkeypatch.setattr(text_modes, "_parse", None)
    text_modes.warm_up()


def test_what_sympy_does_at_random_is_the_same_for_every_job() -> None:
    random: Any = pytest.importorskip("sympy.core.random")
    tree = read(r"\sqrt{3}/2")[2]
    states: list[Any] = []
    for before in (1, 2):
        random.seed(before)
        compare(r"\frac{\sqrt{3}}{2}", tree)
        states.append(random.rng.getstate())
    assert states[0] == states[1]
