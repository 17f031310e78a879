"""Rounds that take turns between disciplines: champions of each, played against each other's."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from tests.unit.tournament.hill import HILL, plan, played, toy

from unhack.tournament.contest import (
    DataPool,
    Files,
    Measurement,
    TakesTurns,
    Terms,
    discipline,
    in_round,
)
from unhack.tournament.record.archive import read_record
from unhack.tournament.review.canonical import canonical_hash
from unhack.tournament.review.replay import replay
from unhack.tournament.round.rounds import reopen

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class HillsByTurns(toy.Hill):
    """Climb, then sink below the best climber: what sinks is worth what the rival is not."""

    role: str = ""
    rival: str = ""

    @property
    def disciplines(self) -> tuple[str, ...]:
        return ("climb", "sink")

    def in_round(self, terms: Terms) -> HillsByTurns:
        [rival, *_] = [*terms.rivals.values(), {"answer.json": b""}]
        role = self.disciplines[(terms.number - 1) % 2]
        return replace(self, role=role, rival=rival["answer.json"].decode())

    def workspace(self, terms: Terms) -> Files:
        return {
            **super().workspace(terms),
            "RIVAL": self.rival.encode(),
            "ROLE": self.role.encode(),
        }

    def measure(self, folder: Path, *, pool: DataPool, seed: int) -> Measurement:
        assert self.role, "a round is measured as a round"
        found: Measurement = super().measure(folder, pool=pool, seed=seed)
        if self.role == "climb" or not found.valid:
            return found
        metrics = {**found.metrics, "against": self.rival}
        return replace(
            found,
            fitness=found.fitness / 2,
            low=found.low / 2,
            high=found.high / 2,
            metrics=metrics,
        )


BY_TURNS = HillsByTurns()


def by_turns(path: Path, *, rounds: int = 4, seeding: str = "champion") -> Any:
    return played(
        path, plan("search", "baseline:near", rounds=rounds, seeding=seeding), hill=BY_TURNS
    )


def test_a_contest_takes_turns_only_where_it_says_so() -> None:
    assert isinstance(BY_TURNS, TakesTurns)
    assert not isinstance(HILL, TakesTurns)
    assert [discipline(BY_TURNS, number) for number in (1, 2, 3)] == ["climb", "sink", "climb"]
    assert discipline(HILL, 2) == ""
    assert in_round(HILL, Terms(1)) is HILL


def test_each_discipline_has_champions_of_its_own_and_meets_those_of_the_other(
    tmp_path: Path,
) -> None:
    record = by_turns(tmp_path / "out")
    assert [turn.discipline for turn in record.rounds] == ["climb", "sink", "climb", "sink"]
    climbers = {reign.digest for reign in record.reigns if reign.round % 2 == 1}
    sinkers = {reign.digest for reign in record.reigns if reign.round % 2 == 0}
    first, second, third, fourth = record.rounds
    assert (first.champion, dict(first.rivals)) == ("", {})
    assert second.champion == "", "a climber is no champion of sinking"
    assert second.rivals["climb"] in climbers
    assert third.champion in climbers
    assert third.rivals["sink"] in sinkers
    assert fourth.champion in sinkers
    assert set(record.winners) == {"climb", "sink"}
    rival = tmp_path / "out" / "submissions" / second.rivals["climb"] / "answer.json"
    for entry in second.entries:
        assert entry.measured is not None
        if entry.measured.valid:
            assert json.loads(str(entry.measured.metrics["against"])) == json.loads(
                rival.read_bytes()
            )


def test_an_agent_goes_on_from_its_best_of_the_same_discipline(tmp_path: Path) -> None:
    record = by_turns(tmp_path / "out", seeding="own_best")
    own = {entry.round: entry for entry in record.entries if entry.agent == "search"}
    assert own[2].parent == ""
    assert own[3].parent == own[1].digest
    assert own[4].parent == own[2].digest


def test_a_tournament_by_turns_is_the_same_when_judged_again_and_when_gone_on_with(
    tmp_path: Path,
) -> None:
    whole = by_turns(tmp_path / "whole")
    by_turns(tmp_path / "whole")
    assert canonical_hash(read_record(tmp_path / "whole")) == canonical_hash(whole)
    with reopen(tmp_path / "whole", read_only=True) as archive:
        again = replay(archive, BY_TURNS)
    assert again.judged > 10
    assert again.differences == ()


@pytest.mark.parametrize("number", [2, 3])
def test_a_declined_round_counts_with_the_best_of_its_own_discipline(number: int) -> None:
    from tests.unit.tournament.hill import entry

    from unhack.tournament.record.records import Round
    from unhack.tournament.record.standings import standings

    declined = replace(entry("one", 0.0, number=3), declined=True, measured=None, fitness=0.0)
    played_before = ("climb", "sink") if number == 2 else ("sink", "climb")
    rounds = [
        Round(1, False, "", None, (entry("one", 0.8, number=1),), played_before[0]),
        Round(2, False, "", None, (entry("one", 0.2, number=2),), played_before[1]),
        Round(3, False, "", None, (declined,), "climb"),
    ]
    [only] = standings(rounds)
    counted = 0.8 if number == 2 else 0.2
    assert only.mean == pytest.approx((0.8 + 0.2 + counted) / 3)
