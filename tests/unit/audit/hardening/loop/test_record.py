"""Ends and exit codes, patches carried by their lines, and the page."""

from __future__ import annotations

from datetime import UTC, datetime

from unhack.audit.hardening.loop.agent import LoopBudget
from unhack.audit.hardening.loop.page import loop_page
from unhack.audit.hardening.loop.record import (
    FoundHole,
    HardenedTask,
    LoopEnd,
    LoopRound,
    SiblingTask,
    TriedPatch,
    exit_code,
)
from unhack.audit.hardening.loop.sibling_patch import carried


def task(end: LoopEnd, *holes: FoundHole) -> HardenedTask:
    patch = TriedPatch("<b>equality</b>", True, "12 right completions", "+x < 1")
    rounds = (LoopRound("own strategies", holes, (patch,) if holes else ()),)
    sibling = (SiblingTask("other", False, "it does not have the hole"),)
    return HardenedTask("t", end, "why", rounds, siblings=sibling if holes else ())


HOLE = FoundHole("substring_match", "dumps/numbers", "row#0", "<script>1 2 3</script>", "wrong")


def test_only_a_task_without_a_hole_and_without_a_gap_is_0() -> None:
    assert exit_code([task(LoopEnd.NO_HOLE)]) == 0
    assert exit_code([task(LoopEnd.NO_HOLE), task(LoopEnd.CLOSED, HOLE)]) == 1
    for end in (LoopEnd.BUDGET, LoopEnd.AGENT_FAILED, LoopEnd.UNDECIDED):
        assert exit_code([task(LoopEnd.NO_HOLE), task(end)]) == 4
        assert exit_code([task(end, HOLE)]) == 1


def test_a_change_is_carried_where_its_lines_stand_once() -> None:
    before, after = "a\nb\nc\n", "a\nB\nc\n"
    assert carried(before, after, before) == after
    assert carried(before, after, "x\nb\ny\n") == "x\nB\ny\n"
    assert carried(before, after, "b\nb\n") is None
    assert carried(before, after, "other\n") is None
    assert carried("a\nc\n", "a\nb\nc\n", "z\na\nc\n") == "z\na\nb\nc\n"


def test_the_page_shows_each_round_and_escapes_what_others_wrote() -> None:
    made = datetime(2026, 1, 2, tzinfo=UTC)
    text = loop_page([task(LoopEnd.NOT_CLOSED, HOLE)], target="a.py", made=made)
    assert "&lt;script&gt;1 2 3" in text
    assert "<b>equality" not in text
    assert "Round 1" in text
    assert "not closed" in text
    assert "keeps its grader" in text


def test_what_no_budget_is_left_for_is_named() -> None:
    assert "1 dollars of --cost" in LoopBudget(cost_usd=1.0, spent_usd=1.0).over
    assert LoopBudget(until=0.0).over == "the seconds are used up"
    assert LoopBudget().over == ""
