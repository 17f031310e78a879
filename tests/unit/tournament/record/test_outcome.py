"""Endings in words: none of them looks like a measured nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.unit.tournament.hill import entry, flagged

from unhack.agents.play import AgentUsage, PlayEnding
from unhack.tournament.contest import invalid
from unhack.tournament.record.entry_state import EntryState
from unhack.tournament.record.outcome import (
    ending,
    grouped_flags,
    label,
    measured_nothing,
    went_wrong,
)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"ended": PlayEnding.FINISHED}, "finished"),
        ({"ended": PlayEnding.FINISHED, "usage": AgentUsage(seconds=12.3, cost_usd=0.5)},
         "finished, 12 s, 0.50 USD"),
        ({"ended": PlayEnding.TIME, "note": "stopped after 60 s", "attempts": 2},
         "stopped at the time limit, 2 attempts: stopped after 60 s"),
        ({"ended": PlayEnding.FAILED, "note": "it ended with code 127: not found"},
         "failed: it ended with code 127: not found"),
        ({"ended": PlayEnding.COST}, "stopped at the cost limit"),
        ({"state": EntryState.PLANNED}, "not begun"),
        ({"state": EntryState.RUNNING}, "at work, or cut off"),
    ],
)  # fmt: skip
def test_an_ending_is_one_line(changes: dict[str, object], text: str) -> None:
    assert ending(replace(entry("a"), **changes)) == text  # type: ignore[arg-type]


def test_only_what_did_not_just_finish_went_wrong() -> None:
    assert not went_wrong(replace(entry("a"), ended=PlayEnding.FINISHED))
    assert went_wrong(replace(entry("a"), ended=PlayEnding.FINISHED, problem="no solution.py"))
    assert went_wrong(replace(entry("a"), ended=PlayEnding.TIME))


def test_nothing_valid_is_not_the_same_as_nothing_gained() -> None:
    broken = replace(entry("a", 0.0), measured=invalid("no file"), fitness=0.0)
    assert measured_nothing([broken, broken])
    assert not measured_nothing([broken, entry("a", 0.0)])
    assert not measured_nothing([broken, replace(broken, declined=True)])
    assert not measured_nothing([])


def test_flags_of_one_agent_stand_together_and_those_of_another_apart() -> None:
    entries = [flagged("a", number=1), flagged("b", number=1), entry("c"), flagged("a", number=2)]
    assert [[e.round for e in group] for group in grouped_flags(entries)] == [[1, 2], [1]]


@pytest.mark.parametrize(
    ("agent", "short"),
    [("mine=python3 /a/b.py {prompt}", "mine"), ("mine=python3 x#2", "mine#2"),
     ("claude", "claude"), ("baseline:rtn4", "baseline:rtn4"),
     ("command:env A=1", "command:env A=1")],
)  # fmt: skip
def test_a_command_line_is_told_by_its_name(agent: str, short: str) -> None:
    assert label(agent) == short
