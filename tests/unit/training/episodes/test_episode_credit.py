"""Credit of turns: exact enumeration of three games, and the laws of each estimator.

Games: at each of three turns the policy goes on with probability p = 1/2, one logit for all turns,
or stops. All groups of four episodes are enumerated, so expectations are exact.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Callable, Sequence

import pytest

from unhack.core.errors import UnknownNameError, UsageError
from unhack.training.episodes.credit import (
    CreditSettings,
    Trajectory,
    monte_carlo_values,
    returns_to_go,
    turn_advantages,
)

GROUP = 4
Estimator = Callable[[Sequence[Trajectory]], list[list[float]]]
Game = Callable[[int], tuple[float, float]]
"""Turns gone on with -> pay of each of them, outcome."""
GAMES: dict[str, Game] = {
    "A": lambda gone: (0.3, 1.0),
    "B": lambda gone: (0.0, 1.0),
    "C": lambda gone: (0.3, max(0.0, 1.0 - 0.4 * gone)),
}
TRUE = {"A": 0.20625, "B": 0.0, "C": -0.03125}


def _play(game: Game, gone: int) -> Trajectory:
    """An episode that goes on `gone` times, and then stops unless three turns are over."""
    paid, outcome = game(gone)
    turns = min(gone + 1, 3)
    rewards = [paid if turn < gone else 0.0 for turn in range(turns)]
    rewards[-1] += outcome
    return Trajectory("start", tuple(f"turn {turn}" for turn in range(turns)), tuple(rewards))


def _slopes(gone: int) -> list[float]:
    """d log p(action) / d logit of each turn at p = 1/2."""
    return [0.5 if turn < gone else -0.5 for turn in range(min(gone + 1, 3))]


def _chance(gone: int) -> float:
    return 0.5 ** min(gone + 1, 3)


def expected_gradient(game: Game, estimator: Estimator, *, group: int = GROUP) -> float:
    """The mean over all groups of the estimated gradient, with the divisor G."""
    total = 0.0
    for gones in itertools.product(range(4), repeat=group):
        chance = math.prod(map(_chance, gones))
        found = estimator([_play(game, gone) for gone in gones])
        total += chance * math.fsum(
            advantage * slope
            for gone, advantages in zip(gones, found, strict=True)
            for advantage, slope in zip(advantages, _slopes(gone), strict=True)
        )
    return total / group


def true_gradient(game: Game) -> float:
    """The score function's gradient, from the four episodes."""
    return math.fsum(
        _chance(gone) * math.fsum(_play(game, gone).rewards) * math.fsum(_slopes(gone))
        for gone in range(4)
    )


def _with(settings: CreditSettings) -> Estimator:
    return lambda played: turn_advantages(played, settings)


def _whole(played: Sequence[Trajectory]) -> list[float]:
    return [math.fsum(one.rewards) for one in played]


def group_mean(played: Sequence[Trajectory]) -> list[list[float]]:
    """GRPO without a deviation: one advantage for all turns."""
    returns = _whole(played)
    centre = math.fsum(returns) / len(returns)
    return [[value - centre] * len(one.states) for one, value in zip(played, returns, strict=True)]


def over_deviation(played: Sequence[Trajectory]) -> list[list[float]]:
    """GRPO."""
    scale = statistics.pstdev(_whole(played)) + 1e-6
    return [[value / scale for value in row] for row in group_mean(played)]


def per_turn_index(played: Sequence[Trajectory]) -> list[list[float]]:
    """Each turn's reward less the mean of that turn over the episodes that reach it, summed."""
    centred: list[list[float]] = []
    for one in played:
        row: list[float] = []
        for turn, reward in enumerate(one.rewards):
            reached = [other.rewards[turn] for other in played if len(other.rewards) > turn]
            row.append(reward - math.fsum(reached) / len(reached))
        centred.append(returns_to_go(row))
    return centred


def alone_is_nothing(played: Sequence[Trajectory]) -> list[list[float]]:
    """Leave-one-out with advantage 0 where no other episode runs."""
    found = turn_advantages(played)
    lengths = [len(one.states) for one in played]
    return [
        [
            value if sum(length > turn for length in lengths) > 1 else 0.0
            for turn, value in enumerate(row)
        ]
        for row in found
    ]


def every_turn_a_sample(played: Sequence[Trajectory]) -> list[list[float]]:
    """The return less its mean over all turns, so that long episodes weigh more in it."""
    returns = _whole(played)
    turns = [value for one, value in zip(played, returns, strict=True) for _ in one.states]
    centre = math.fsum(turns) / len(turns)
    return [[value - centre] * len(one.states) for one, value in zip(played, returns, strict=True)]


def own_length(played: Sequence[Trajectory]) -> list[list[float]]:
    """The return less that of the others, divided by the episode's own number of turns."""
    returns = _whole(played)
    total, others = math.fsum(returns), len(returns) - 1
    return [
        [(value - (total - value) / others) / len(one.states)] * len(one.states)
        for one, value in zip(played, returns, strict=True)
    ]


class TestTheTableOfEstimators:
    @pytest.mark.parametrize("name", GAMES)
    def test_the_games_have_their_gradients(self, name: str) -> None:
        assert true_gradient(GAMES[name]) == pytest.approx(TRUE[name], abs=1e-12)

    @pytest.mark.parametrize("peers", ["state", "start"])
    @pytest.mark.parametrize("name", GAMES)
    def test_leave_one_out_has_the_true_gradient(self, name: str, peers: str) -> None:
        chosen = _with(CreditSettings(peers=peers))  # type: ignore[arg-type]
        assert expected_gradient(GAMES[name], chosen) == pytest.approx(TRUE[name], abs=1e-12)

    @pytest.mark.parametrize("name", GAMES)
    def test_leave_one_out_is_unbiased_where_only_some_share_a_state(self, name: str) -> None:
        """States told apart by the number of episodes before: peers, the start and nobody occur."""

        def estimator(played: Sequence[Trajectory]) -> list[list[float]]:
            marked = [
                Trajectory(
                    one.start,
                    tuple(f"{state} {index % 2 if turn else 0}" for turn, state in
                          enumerate(one.states)),
                    one.rewards,
                )
                for index, one in enumerate(played)
            ]  # fmt: skip
            return turn_advantages(marked)

        assert expected_gradient(GAMES[name], estimator, group=3) == pytest.approx(
            TRUE[name], abs=1e-12
        )

    @pytest.mark.parametrize(
        ("estimator", "game_a", "game_b", "game_c"),
        [
            pytest.param(group_mean, 0.75, 0.0, 0.75, id="group mean: (G - 1) / G"),
            pytest.param(over_deviation, 2.41, 0.0, 12.4, id="over the deviation"),
            pytest.param(alone_is_nothing, 0.93, 0.0, 1.06, id="nothing when alone"),
            pytest.param(per_turn_index, -0.833, -0.254, 4.77, id="per turn index: wrong sign"),
            pytest.param(every_turn_a_sample, 0.71, 0.0, 0.75, id="every turn a sample"),
            pytest.param(own_length, 0.545, 0.0, 0.67, id="over the own length"),
        ],
    )
    def test_other_estimators_miss_it_by_the_known_factors(
        self, estimator: Estimator, game_a: float, game_b: float, game_c: float
    ) -> None:
        gradients = {name: expected_gradient(game, estimator) for name, game in GAMES.items()}
        assert gradients["A"] / TRUE["A"] == pytest.approx(game_a, abs=0.006)
        assert gradients["B"] == pytest.approx(game_b, abs=0.006)
        assert gradients["C"] / TRUE["C"] == pytest.approx(game_c, abs=0.06)

    def test_no_name_stands_for_means_per_turn_index(self) -> None:
        with pytest.raises(UnknownNameError, match="leave_one_out"):
            CreditSettings(estimator="per_turn_index")


def _episode(start: str, *steps: tuple[str, float]) -> Trajectory:
    return Trajectory(start, tuple(state for state, _ in steps), tuple(pay for _, pay in steps))


class TestLeaveOneOut:
    def test_rewards_before_a_turn_are_not_its_credit(self) -> None:
        assert returns_to_go([1.0, 0.0, 2.0]) == [3.0, 2.0, 2.0]
        assert returns_to_go([1.0, 0.0, 2.0], discount=0.5) == [1.5, 1.0, 2.0]

    def test_an_episode_alone_keeps_its_return(self) -> None:
        assert turn_advantages([_episode("x", ("s", 0.0), ("t", 1.0))]) == [[1.0, 1.0]]

    def test_the_same_state_is_compared_first_and_the_start_otherwise(self) -> None:
        played = [
            _episode("x", ("s", 0.0), ("left", 1.0)),
            _episode("x", ("s", 0.0), ("left", 0.0)),
            _episode("x", ("s", 0.0), ("right", 0.5)),
        ]
        found = turn_advantages(played)
        assert [row[0] for row in found] == pytest.approx([0.75, -0.75, 0.0])
        assert [row[1] for row in found] == pytest.approx([1.0, -1.0, 0.0])
        by_start = turn_advantages(played, CreditSettings(peers="start"))
        assert [row[1] for row in by_start] == pytest.approx([0.75, -0.75, 0.0])

    def test_another_task_is_no_peer_even_in_the_same_files(self) -> None:
        played = [_episode("x", ("s", 1.0)), _episode("y", ("s", 0.0))]
        assert turn_advantages(played) == [[1.0], [0.0]]

    def test_a_state_that_an_episode_visits_twice_is_no_baseline_of_itself(self) -> None:
        played = [_episode("x", ("s", 0.0), ("s", 1.0)), _episode("x", ("s", 0.25))]
        assert turn_advantages(played) == [[0.75, 1.0], [-0.75]]

    def test_a_trace_of_nothing_credits_each_turn_with_its_own_reward(self) -> None:
        settings = CreditSettings(trace=0.0)
        assert turn_advantages([_episode("x", ("s", 0.3), ("t", 1.0))], settings) == [[0.3, 1.0]]

    def test_a_constant_added_to_every_outcome_changes_nothing_among_peers(self) -> None:
        low = [_episode("x", ("s", 0.0)), _episode("x", ("s", 1.0))]
        high = [_episode("x", ("s", 5.0)), _episode("x", ("s", 6.0))]
        assert turn_advantages(low) == turn_advantages(high)


class TestVinePPO:
    def test_an_action_is_worth_what_it_adds_to_the_value(self) -> None:
        played = [Trajectory("x", ("s", "t"), (0.0, 1.0), values=(0.25, 0.75))]
        assert turn_advantages(played, CreditSettings("vineppo")) == [[0.5, 0.25]]
        assert turn_advantages(played, CreditSettings("vineppo", gamma=0.5)) == [[0.125, 0.25]]

    def test_the_value_is_the_mean_of_the_continuations(self) -> None:
        assert monte_carlo_values({"s": [0.0, 1.0, 1.0, 0.0], "t": [1.0]}) == {"s": 0.5, "t": 1.0}
        with pytest.raises(UsageError, match="no continuation"):
            monte_carlo_values({"s": []})

    def test_values_that_are_missing_are_asked_for(self) -> None:
        with pytest.raises(UsageError, match="forked continuations"):
            turn_advantages([_episode("x", ("s", 1.0))], CreditSettings("vineppo"))

    @pytest.mark.parametrize("name", GAMES)
    def test_with_true_values_the_gradient_is_the_true_one(self, name: str) -> None:
        def value(turn: int) -> float:
            """Mean return from a turn on, given that it is reached."""
            mass = [(_chance(gone), _play(GAMES[name], gone)) for gone in range(turn, 4)]
            reached = math.fsum(chance for chance, _ in mass)
            return math.fsum(c * math.fsum(one.rewards[turn:]) for c, one in mass) / reached

        def estimator(played: Sequence[Trajectory]) -> list[list[float]]:
            valued = [
                Trajectory(
                    one.start, one.states, one.rewards, tuple(map(value, range(len(one.states))))
                )
                for one in played
            ]
            return turn_advantages(valued, CreditSettings("vineppo"))

        found = expected_gradient(GAMES[name], estimator, group=1)
        assert found == pytest.approx(TRUE[name], abs=1e-12)


class TestGiGPO:
    def test_both_levels_are_centred_in_their_groups(self) -> None:
        played = [
            _episode("x", ("s", 0.0), ("t", 1.0)),
            _episode("x", ("s", 0.0), ("s", 0.0)),
        ]
        third = 1.0 / 3.0
        found = turn_advantages(played, CreditSettings("gigpo"))
        assert found[0] == pytest.approx([0.5 + 2 * third, 0.5])
        assert found[1] == pytest.approx([-0.5 - third, -0.5 - third])
        halved = turn_advantages(played, CreditSettings("gigpo", weight=0.5))
        assert halved[0] == pytest.approx([0.5 + third, 0.5])

    def test_a_state_that_nobody_else_visits_adds_nothing(self) -> None:
        assert turn_advantages([_episode("x", ("s", 1.0))], CreditSettings("gigpo")) == [[0.0]]

    def test_the_deviation_of_the_paper_is_there_by_name(self) -> None:
        played = [_episode("x", ("s", 1.0)), _episode("x", ("s", 0.0))]
        found = turn_advantages(played, CreditSettings("gigpo", scale=True))
        assert found[0] == pytest.approx([2 * 0.5 / statistics.stdev([0.0, 1.0])])

    def test_rewards_that_are_all_the_same_give_no_credit_by_rounding(self) -> None:
        played = [_episode("x", ("s", 0.1)) for _ in range(3)]
        assert turn_advantages(played, CreditSettings("gigpo", scale=True)) == [[0.0]] * 3


class TestBadInput:
    def test_what_makes_no_episode_is_refused_with_its_reason(self) -> None:
        with pytest.raises(UsageError, match="one of each per turn"):
            Trajectory("x", ("s",), (1.0, 2.0))
        with pytest.raises(UsageError, match="at least one turn"):
            Trajectory("x", (), ())
        with pytest.raises(UsageError, match="gamma lies in"):
            CreditSettings(gamma=0.0)
        with pytest.raises(UnknownNameError, match="state"):
            CreditSettings(peers="states")  # type: ignore[arg-type]
