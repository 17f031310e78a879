"""Readings of the leak alarm, on the fake world."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, cast

import pytest
import torch
from tests.unit.training import fakes_loop as fakes
from torch import Tensor

from unhack.training.loop import sampling
from unhack.training.loop.batches import RolloutBatch
from unhack.training.loop.distributed import Ranks
from unhack.training.loop.sampling import RolloutSource
from unhack.training.loop.step_summary import read_leak
from unhack.training.policy.rollouts import Rollouts
from unhack.training.routing.leak import EVERY, FIRST


@dataclass(frozen=True, slots=True)
class Scripted:
    """A policy that gives each token -0.5 with the quarantine off, and `on` with it on."""

    on: float

    def score(self, rollouts: Rollouts) -> Tensor:
        each_B = torch.where(rollouts.quarantine_B, self.on, -0.5)
        logprobs_B_T = each_B[:, None].expand(rollouts.tokens_B_T.shape)
        return logprobs_B_T


def sampled(*, quarantine: float, **gate: Any) -> tuple[RolloutSource, RolloutBatch]:
    """A source whose quarantine has weights of this size, and a batch of it."""
    settings = fakes.small(gate={"kind": "cosine", **gate})
    world = fakes.FakeWorld()
    policy = fakes.load_fake_policy(settings, world)
    draw = torch.Generator().manual_seed(1)
    for items in policy.adapters.parameters("quarantine").values():
        for item in items:
            torch.nn.init.normal_(item, std=quarantine, generator=draw)
    source = RolloutSource(settings, world, policy, Ranks())
    return source, sampling.sample_batch(source, FIRST).batch


def test_a_quarantine_that_does_nothing_claims_everything() -> None:
    source, batch = sampled(quarantine=0.0)
    assert read_leak(source, batch, step=FIRST) == pytest.approx(1.0)


def test_a_quarantine_that_would_write_none_of_it_claims_nothing() -> None:
    source, batch = sampled(quarantine=0.3)
    against = replace(source, policy=cast(Any, Scripted(on=-10.0)))
    assert read_leak(against, batch, step=FIRST) == 0.0


def test_a_quarantine_that_would_rather_write_it_claims_everything() -> None:
    source, batch = sampled(quarantine=0.3)
    eager = replace(source, policy=cast(Any, Scripted(on=-0.01)))
    assert read_leak(eager, batch, step=FIRST) == pytest.approx(1.0)


def test_nothing_is_drawn_and_no_gradient_is_left() -> None:
    source, batch = sampled(quarantine=0.3)
    before = torch.get_rng_state()
    read_leak(source, batch, step=FIRST)
    assert torch.equal(torch.get_rng_state(), before)
    blocks = source.policy.adapters.parameters("quarantine").values()
    assert all(item.grad is None for items in blocks for item in items)


@pytest.mark.parametrize("gate", [{"kind": "none"}, {"action": "drop"}])
def test_without_a_quarantine_that_trains_there_is_none(gate: dict[str, Any]) -> None:
    source, batch = sampled(quarantine=0.3, **gate)
    assert read_leak(source, batch, step=FIRST) is None


@pytest.mark.parametrize("step", [0, FIRST - EVERY, FIRST + 1])
def test_there_is_none_before_the_first_and_between_two(step: int) -> None:
    source, batch = sampled(quarantine=0.3)
    assert read_leak(source, batch, step=step) is None
