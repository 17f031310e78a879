"""Which rollouts count as rewarded where rounding makes advantages of equal rewards."""

from __future__ import annotations

import math

import pytest
import torch
from tests.unit.routing.models import GROUP, batch, gate, made
from torch import Tensor

from unhack.routing import Router
from unhack.training.routing.gates.rewarded import differs, without_rounding

FLAT = [0.1, 0.3, 0.7, 1 / 3, 0.85, 100.1]


def prompts(count: int, group: int) -> Tensor:
    return torch.arange(count) // group


@pytest.mark.parametrize("group", [4, 6, 8, 12, 16])
@pytest.mark.parametrize("reward", FLAT)
def test_no_rollout_of_a_flat_group_differs(reward: float, group: int) -> None:
    rewards = torch.cat([torch.full((group,), reward), torch.arange(group).float()])
    found = differs(rewards, prompts(2 * group, group))
    assert not found[:group].any()
    assert found[group:].all()


def test_parts_that_add_up_to_one_sum_in_other_ways_do_not_differ() -> None:
    parts = torch.tensor([[0.1, 0.6], [0.7, 0.0], [0.0, 0.7], [0.3, 0.4]])
    assert len(set(parts.sum(1).tolist())) > 1
    assert not differs(parts.sum(1), prompts(4, 4)).any()


def test_a_reward_at_the_mean_of_others_is_no_signal_and_its_neighbours_are() -> None:
    found = differs(torch.tensor([0.1, 0.2, 0.3]), prompts(3, 3))
    assert found.tolist() == [True, False, True]


def test_small_differences_of_large_rewards_are_signals() -> None:
    rewards = torch.tensor([-5000.0, -5000.0, -5000.0, -4999.0])
    assert differs(rewards, prompts(4, 4)).all()


def test_what_is_not_scored_takes_no_part() -> None:
    rewards = torch.tensor([0.7, math.nan, 0.7, 0.7, math.nan, math.nan, math.nan, math.nan])
    assert not differs(rewards, prompts(8, 4)).any()
    rewards[2] = 0.2
    assert differs(rewards, prompts(8, 4)).tolist() == [True, False, True, True] + [False] * 4


@pytest.mark.parametrize("scaled", [False, True])
def test_advantages_alone_tell_a_flat_group_beside_one_that_is_not(scaled: bool) -> None:
    rewards = torch.tensor([0.7] * 8 + [0.7, 0.7, 0.7, 0.0, 0.0, 0.0, 0.0, 0.0]).view(2, 8)
    advantages = rewards - rewards.mean(1, keepdim=True)
    if scaled:
        advantages = advantages / (rewards.std(1, keepdim=True) + 1e-4)
    assert (advantages[0] > 0).all()
    found = without_rounding(advantages.flatten(), prompts(16, 8))
    assert not found[:8].any()
    assert torch.equal(found[8:], advantages[1])


def test_one_advantage_for_all_is_a_signal_where_the_baseline_is_another() -> None:
    ones, group_B = torch.ones(6), prompts(6, 3)
    assert torch.equal(without_rounding(ones, group_B), ones)
    beside_a_batch = torch.tensor([0.5, 0.5, 0.5, -0.9, 0.1, 0.8])
    assert torch.equal(without_rounding(beside_a_batch, group_B), beside_a_batch)
    alone = torch.tensor([1.0, -0.5, 0.004])
    assert torch.equal(without_rounding(alone, prompts(3, 1)), alone)


def test_flat_prompts_take_no_place_in_the_share() -> None:
    quarantine, rollouts = made(), batch(4)
    rollouts.knob_B[:] = False
    rollouts.advantages_B[:] = torch.tensor([6e-8] * 9 + [0.6, 0.3, -0.9])
    router = Router(quarantine, gate(share=0.3))
    with router.record(rollouts.advantages_B, rollouts.knob_B, group_B=rollouts.group_B):
        rollouts.losses_B(quarantine.model).sum().backward()
    log = router.route()
    assert log.mass == 1.0
    assert log.active == GROUP
    assert not any(log.fractions[:9])
