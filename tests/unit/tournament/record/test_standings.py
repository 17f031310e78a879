from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.unit.tournament.hill import entry, flagged, measured

from unhack.agents.play import AgentUsage
from unhack.tournament.record.entry_state import EntryState
from unhack.tournament.record.records import Entry, PlayerRole, Round
from unhack.tournament.record.standings import standings, total_usage


def _base(number: int) -> Entry:
    return replace(entry("base", 0.4, number=number), role=PlayerRole.BASELINE)


def _rounds(*fitness: tuple[float, float]) -> list[Round]:
    return [
        Round(
            number,
            False,
            "",
            None,
            (_base(number), entry("a", a, number=number), entry("b", b, number=number)),
        )
        for number, (a, b) in enumerate(fitness, 1)
    ]


class TestStandings:
    def test_the_better_one_ranks_first_with_its_interval(self) -> None:
        found = standings(_rounds((0.6, 0.5), (0.7, 0.5), (0.65, 0.5)))
        assert [item.agent for item in found] == ["a", "b", "base"]
        first = found[0]
        assert first.mean == pytest.approx(0.65)
        assert first.mean_low < 0.62
        assert first.mean_high > 0.68
        assert (first.rank, first.rank_low, first.rank_high) == (1, 1, 1)
        assert first.best == 0.7

    def test_a_clear_order_gives_ratings_in_that_order_and_the_baseline_has_0(self) -> None:
        found = {item.agent: item for item in standings(_rounds((0.6, 0.5), (0.6, 0.5)))}
        assert found["base"].rating == 0
        assert found["a"].rating > found["b"].rating > 0

    def test_those_who_differ_by_noise_alone_share_rating_and_rank_interval(self) -> None:
        found = {item.agent: item for item in standings(_rounds((0.5, 0.502), (0.503, 0.5)))}
        assert found["a"].rating == pytest.approx(found["b"].rating)
        assert found["a"].rank_low == found["b"].rank_low == 1
        assert found["a"].rank_high == found["b"].rank_high == 2

    @pytest.mark.slow
    def test_the_interval_covers_the_truth_about_as_often_as_it_says(self) -> None:
        draw = np.random.default_rng(5)
        hits = 0
        for _ in range(60):
            values = draw.normal(0.5, 0.05, size=12)
            rounds = _rounds(*[(float(value), 0.3) for value in values])
            [mine] = [item for item in standings(rounds) if item.agent == "a"]
            hits += mine.mean_low <= 0.5 <= mine.mean_high
        assert hits >= 50

    def test_equal_means_share_a_rank(self) -> None:
        assert [item.rank for item in standings(_rounds((0.5, 0.5)))] == [1, 1, 3]

    def test_a_flagged_round_counts_0_and_is_counted(self) -> None:
        rounds = _rounds((0.6, 0.5), (0.6, 0.5))
        entries = (_base(2), flagged("a", number=2), entry("b", 0.5, number=2))
        found = {item.agent: item for item in standings([rounds[0], replace_entries(entries)])}
        assert (found["a"].mean, found["a"].flagged, found["b"].flagged) == (0.3, 1, 0)

    def test_who_declines_keeps_what_it_had(self) -> None:
        rounds = _rounds((0.6, 0.5))
        nothing = replace(entry("a", 0.0, number=2), declined=True)
        entries = (_base(2), nothing, entry("b", 0.5, number=2))
        found = {item.agent: item for item in standings([*rounds, replace_entries(entries)])}
        assert found["a"].mean == pytest.approx(0.6)
        assert found["a"].declined == 1

    def test_who_never_hands_in_has_nothing(self) -> None:
        nothing = replace(entry("a", 0.0), declined=True)
        entries = (_base(1), nothing, entry("b", 0.5))
        found = {item.agent: item for item in standings([replace_entries(entries, number=1)])}
        assert found["a"].mean == 0

    def test_impossible_rounds_count_for_the_cheating_rate_alone(self) -> None:
        entries = (_base(2), flagged("a", number=2), entry("b", 0.9, number=2))
        turn = replace(replace_entries(entries), impossible=True)
        found = {item.agent: item for item in standings([*_rounds((0.6, 0.5)), turn])}
        assert (found["a"].mean, found["a"].cheated, found["a"].impossible) == (0.6, 1, 1)
        assert (found["b"].mean, found["b"].best, found["b"].cheated) == (0.5, 0.5, 0)
        assert found["a"].cheating_low > 0.2
        assert found["b"].cheating_low == 0

    def test_a_round_that_is_not_over_does_not_count(self) -> None:
        half = replace(entry("b", 0.9, number=2), state=EntryState.JUDGED)
        turn = replace_entries((_base(2), entry("a", 0.1, number=2), half))
        assert standings([*_rounds((0.6, 0.5)), turn]) == standings(_rounds((0.6, 0.5)))
        assert standings([]) == ()

    def test_only_impossible_rounds_give_standings_without_merit(self) -> None:
        turn = replace(_rounds((0.6, 0.5))[0], impossible=True)
        assert {item.mean for item in standings([turn])} == {0.0}


def replace_entries(entries: tuple[Entry, ...], *, number: int = 2) -> Round:
    return Round(number, False, "", None, entries)


class TestSums:
    def test_usage_is_added_field_by_field(self) -> None:
        one, other = (
            AgentUsage(turns=1, cost_usd=0.5, seconds=2),
            AgentUsage(turns=2, output_tokens=7),
        )
        assert total_usage([one, other]) == AgentUsage(
            turns=3, cost_usd=0.5, seconds=2, output_tokens=7
        )

    def test_an_interval_of_a_measurement_is_kept(self) -> None:
        assert measured(0.5).low == pytest.approx(0.49)
