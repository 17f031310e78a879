from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.unit.tournament.hill import entry, flagged, measured

from unhack.tournament.contest import invalid
from unhack.tournament.record.lineage import mark_tainted
from unhack.tournament.record.records import PlayerRole, Reign
from unhack.tournament.record.seeds import chosen_rounds, derive, secret_of_seed
from unhack.tournament.round.champion import (
    announced_fitness,
    beats,
    current_champion,
    holds,
    new_champion,
    own_best,
)

CHAMPION = Reign(1, "a", "a-1", 0.5, 0.49, 0.51)


class TestAChampion:
    def test_the_first_one_is_the_best_that_counts(self) -> None:
        entries = [entry("a", 0.5), flagged("b"), entry("c", 0.6)]
        found = new_champion([], entries)
        assert found is not None
        assert (found.agent, found.fitness) == ("c", 0.6)

    def test_nothing_and_controls_without_merit_are_never_champion(self) -> None:
        null = replace(entry("n", 0.9), role=PlayerRole.NULL)
        assert new_champion([], [entry("a", 0.0), null]) is None
        base = replace(entry("base", 0.4), role=PlayerRole.BASELINE)
        found = new_champion([], [base])
        assert found is not None
        assert found.agent == "base"

    @pytest.mark.parametrize(("fitness", "changes"), [(0.505, False), (0.513, False), (0.53, True)])
    def test_it_is_replaced_only_for_more_than_noise(self, fitness: float, changes: bool) -> None:
        assert (new_champion([CHAMPION], [entry("b", fitness, number=2)]) is not None) is changes

    def test_many_challengers_need_a_larger_lead(self) -> None:
        challenger = measured(0.516)
        assert beats(challenger, CHAMPION)
        assert not beats(challenger, CHAMPION, tries=50)

    @pytest.mark.parametrize("rivals", [2, 12, 60])
    def test_the_luck_of_the_best_of_many_does_not_take_its_title(self, rivals: int) -> None:
        rng = np.random.default_rng(7)
        found = 0
        for seen in rng.normal(0.5, 0.01 / 1.96, (2000, rivals + 1)):
            credited, fresh = measured(float(seen[:-1].max())), measured(float(seen[-1]))
            found += holds(credited, fresh, rivals=rivals)
        assert found >= 0.97 * 2000

    def test_what_is_worth_less_on_fresh_data_loses_it(self) -> None:
        assert not holds(measured(0.6), measured(0.5), rivals=60)
        assert not holds(measured(0.6), invalid("late"), rivals=60)
        gamed = replace(measured(0.6), flags=flagged("a").flags)
        assert not holds(measured(0.6), gamed, rivals=60)

    def test_what_may_not_seed_does_not_challenge(self) -> None:
        better = entry("b", 0.9, number=2)
        for bad in (
            replace(better, tainted=True),
            replace(better, declined=True),
            replace(better, measured=invalid("late")),
            replace(better, digest="a-1"),
        ):
            assert new_champion([CHAMPION], [bad]) is None

    def test_a_champion_that_is_tainted_later_makes_room_for_the_one_before(self) -> None:
        reigns = [CHAMPION, Reign(2, "b", "b-2", 0.9, 0.89, 0.91)]
        known = mark_tainted([entry("a"), entry("b", 0.9, number=2), flagged("c", digest="b-2")])
        assert current_champion(reigns, known) == CHAMPION

    def test_its_fitness_is_told_no_finer_than_its_noise(self) -> None:
        assert announced_fitness(Reign(1, "a", "d", 0.512345, 0.502, 0.522)) == 0.51
        assert announced_fitness(Reign(1, "a", "d", 187.3, 180.0, 194.0)) == 190.0
        assert (
            announced_fitness(Reign(1, "a", "d", 0.5123456789, 0.5123456789, 0.5123456789))
            == 0.512346
        )


class TestOwnBest:
    def test_it_is_the_best_of_the_agent_that_counts(self) -> None:
        entries = [entry("a", 0.4), entry("a", 0.6, number=2), entry("b", 0.9)]
        best = own_best("a", [*entries, flagged("a", number=3)])
        assert best is not None
        assert best.round == 2
        assert own_best("c", entries) is None


class TestLineage:
    def test_everything_that_grew_from_a_cheat_is_marked_and_nothing_else(self) -> None:
        entries = [
            flagged("a"),
            entry("b", number=2, parent="a-1"),
            entry("c", number=3, parent="b-2"),
            entry("d", number=3),
            entry("e", number=4, digest="c-3"),
        ]
        assert [item.tainted for item in mark_tainted(entries)] == [True, True, True, False, True]

    def test_a_later_flag_on_the_same_content_marks_the_earlier_rounds(self) -> None:
        entries = [entry("a"), entry("b", number=2, parent="a-1"), flagged("c", digest="a-1")]
        assert [item.tainted for item in mark_tainted(entries)] == [True, True, True]

    def test_marks_are_taken_back_with_the_flag(self) -> None:
        assert not mark_tainted([replace(entry("a"), tainted=True)])[0].tainted


class TestSeeds:
    def test_each_purpose_has_its_own_seed_and_the_same_every_time(self) -> None:
        secret = secret_of_seed(7)
        seeds = {derive(secret, "measure", number, name) for number in (1, 11) for name in "ab"}
        assert len(seeds) == 4
        assert derive(secret, "measure", 1, "a") in seeds
        assert derive(secret, "measure", 1, "1a") != derive(secret, "measure", 11, "a")
        assert derive(secret_of_seed(8), "measure", 1, "a") not in seeds
        assert all(0 <= seed < 2**62 for seed in seeds)

    def test_impossible_rounds_are_drawn_and_spare_the_first(self) -> None:
        drawn = {chosen_rounds(secret_of_seed(seed), rounds=5, count=2) for seed in range(30)}
        assert len(drawn) > 3
        assert all(len(set(rounds)) == 2 and 1 not in rounds for rounds in drawn)
        assert chosen_rounds(secret_of_seed(1), rounds=2, count=2) == (1, 2)
