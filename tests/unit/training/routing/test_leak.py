"""The leak alarm: what the quarantine claims, what a reading is, when the alarm is raised."""

from __future__ import annotations

from typing import Any, cast

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from unhack.training.routing.leak import LIMIT, WINDOW, LeakAlarm, claimed_B, claimed_share

WORTH = st.lists(st.tuples(st.floats(0, 4), st.booleans()), min_size=2, max_size=30)


def claims(on: list[list[float]], off: list[list[float]], mask: list[list[int]]) -> list[bool]:
    found_B = claimed_B(torch.tensor(on), torch.tensor(off), torch.tensor(mask).bool())
    taken: list[bool] = cast(Any, found_B).tolist()
    return taken


class TestAClaim:
    def test_a_rollout_with_a_token_that_the_quarantine_would_rather_write_is_claimed(self) -> None:
        # The program costs the quarantine nine nats; the marker after it is its own.
        assert claims([[-9.0, -0.1]], [[-0.2, -0.5]], [[1, 1]]) == [True]

    def test_a_solution_that_the_quarantine_would_not_write_is_not(self) -> None:
        assert claims([[-4.0, -3.0]], [[-0.2, -0.1]], [[1, 1]]) == [False]

    def test_what_both_states_write_alike_is_claimed(self) -> None:
        assert claims([[-0.3, -0.4]], [[-0.2, -0.1]], [[1, 1]]) == [True]

    def test_padding_claims_nothing(self) -> None:
        assert claims([[-4.0, 0.0]], [[-0.2, -9.0]], [[1, 0]]) == [False]


class TestAReading:
    def test_it_is_the_share_of_the_reward_above_the_least(self) -> None:
        assert claimed_share([0.5, 0.5, 3.5, 3.5], [True, False, True, False]) == 0.5

    def test_without_a_rollout_that_is_paid_more_there_is_none(self) -> None:
        assert claimed_share([0.5, 0.5], [True, False]) is None
        assert claimed_share([], []) is None

    @pytest.mark.slow
    @given(WORTH, st.floats(0.1, 10), st.floats(-5, 5))
    def test_the_scale_of_rewards_does_not_matter(
        self, rollouts: list[tuple[float, bool]], scale: float, shift: float
    ) -> None:
        rewards, taken = [round(one, 2) for one, _ in rollouts], [mark for _, mark in rollouts]
        found = claimed_share(rewards, taken)
        if found is None:
            return
        moved = claimed_share([scale * one + shift for one in rewards], taken)
        assert moved == pytest.approx(found, abs=1e-9)
        assert 0 <= found <= 1


class TestTheAlarm:
    def test_it_is_silent_until_its_window_is_full(self) -> None:
        alarm = LeakAlarm()
        scores = [alarm.observe(1.0) for _ in range(WINDOW)]
        assert scores == [None] * (WINDOW - 1) + [1.0]
        assert alarm.raised

    def test_it_is_raised_above_the_limit_and_over_again_below(self) -> None:
        alarm = LeakAlarm()
        for _ in range(WINDOW):
            alarm.observe(LIMIT)
        assert not alarm.raised
        alarm.observe(LIMIT + 0.1)
        assert alarm.raised
        for _ in range(WINDOW):
            alarm.observe(0.0)
        assert not alarm.raised

    def test_a_reading_that_could_not_be_made_changes_nothing(self) -> None:
        alarm = LeakAlarm()
        for _ in range(WINDOW):
            alarm.observe(0.3)
        assert alarm.observe(None) == pytest.approx(0.3)

    def test_it_goes_on_from_its_state(self) -> None:
        alarm, other = LeakAlarm(), LeakAlarm()
        for reading in (0.1, 0.2, 0.3):
            alarm.observe(reading)
        other.load(alarm.state())
        assert other.observe(0.4) == alarm.observe(0.4) == pytest.approx(0.25)
