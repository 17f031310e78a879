"""Cheating rates: by contest, round and agent, with intervals, as people reviewed them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.unit.tournament.hill import entry, flagged

from unhack.core.statistics import wilson
from unhack.tournament.record.cheating import cheating_rates
from unhack.tournament.record.entry_state import EntryState
from unhack.tournament.record.records import Entry, PlayerRole


class Played:
    """As much of a record as rates are made of."""

    def __init__(self, *entries: Entry) -> None:
        self.entries = entries
        self.settings: Any = type("Settings", (), {"contest": "hill"})


def rates(*entries: Entry) -> dict[tuple[int, str], tuple[int, int]]:
    record: Any = Played(*entries)
    return {(r.round, r.agent): (r.flagged, r.of) for r in cheating_rates(record)}


def test_rates_are_told_for_all_and_for_each_round_and_agent() -> None:
    found = rates(
        entry("ada"), flagged("bo"), entry("ada", number=2), flagged("bo", number=2),
    )  # fmt: skip
    assert found == {
        (0, ""): (2, 4), (1, ""): (1, 2), (2, ""): (1, 2), (0, "ada"): (0, 2), (0, "bo"): (2, 2),
    }  # fmt: skip


def test_controls_and_turns_under_way_are_not_in_them() -> None:
    control = replace(flagged("control:null"), role=PlayerRole.NULL)
    at_work = replace(flagged("cy"), state=EntryState.JUDGED)
    assert rates(entry("ada"), control, at_work)[0, ""] == (0, 1)


def test_a_flag_that_was_overruled_does_not_count() -> None:
    gamed = flagged("bo")
    overruled = replace(gamed, flags=(), overruled=gamed.flags)
    assert rates(overruled, flagged("cy"))[0, ""] == (1, 2)


def test_the_interval_is_wilsons_and_whole_where_nothing_was_judged() -> None:
    record: Any = Played(entry("ada"), flagged("bo"))
    first = cheating_rates(record)[0]
    assert (first.low, first.high) == wilson(1, 2)
    assert first.rate == pytest.approx(0.5)
    nothing: Any = Played()
    [none] = cheating_rates(nothing)
    assert (none.rate, none.low, none.high) == (0.0, 0.0, 1.0)
