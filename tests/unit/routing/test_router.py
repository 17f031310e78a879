"""What each block receives, against finite differences, and however a batch is cut."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.unit.routing.models import GROUP, Batch, batch, gate, gradients, made
from torch import Tensor

from unhack.core.errors import UsageError
from unhack.routing import Quarantine, Router
from unhack.training.adapters.adapter import Block


def routed(
    quarantine: Quarantine,
    cuts: list[Any],
    router: Router | None = None,
    *,
    always_on: bool = False,
) -> Any:
    """The log of one update over parts of the batch."""
    router = router or Router(quarantine, gate())
    whole = batch()
    whole.knob_B |= always_on
    for cut in cuts:
        part = whole.part(cut)
        with router.record(part.advantages_B, part.knob_B, group_B=part.group_B):
            losses_B = part.losses_B(quarantine.model, count=len(whole.advantages_B))
            losses_B.sum().backward()
    return router.route()


def differences(quarantine: Quarantine, rollouts: Batch, block: Block, knob_B: Tensor) -> Tensor:
    """Central differences of each rollout's loss by each number of a block, [B, N]."""
    columns: list[Tensor] = []
    for items in quarantine.adapters.parameters(block).values():
        for item in items:
            flat = item.data.view(-1)
            for place in range(flat.numel()):
                kept, found = flat[place].item(), []
                for moved in (kept + 1e-5, kept - 1e-5):
                    flat[place] = moved
                    with quarantine.knob(knob_B), torch.no_grad():
                        found.append(rollouts.losses_B(quarantine.model))
                flat[place] = kept
                columns.append((found[0] - found[1]) / 2e-5)
    return torch.stack(columns, dim=1)


def scales(advantages: list[float], kept: list[float]) -> list[float]:
    """What recentring makes of each rollout's kept share, group by group, by hand."""
    found: list[float] = []
    for first in range(0, len(advantages), GROUP):
        own, left = advantages[first : first + GROUP], kept[first : first + GROUP]
        shift = 0.0
        if set(left) != {1.0}:
            mass = sum(left)
            mean = sum(a * w for a, w in zip(own, left, strict=True)) / mass if mass else 0.0
            shift = mean - sum(own) / len(own)
        found += [w * (a - shift) / a for a, w in zip(own, left, strict=True)]
    return found


@pytest.mark.slow
@pytest.mark.parametrize("recentre", [True, False])
@pytest.mark.parametrize("kind", ["lora_frozen_b", "lora_split", "svd"])
def test_blocks_receive_what_finite_differences_say(kind: str, recentre: bool) -> None:
    quarantine, rollouts = made(kind), batch()
    apart = kind == "lora_split"  # its quarantine has a gradient of its own while it is off
    rollouts.knob_B |= apart
    router = Router(quarantine, gate(recentre=recentre))
    log = routed(quarantine, [slice(None)], router, always_on=apart)
    found = torch.cat([item.flatten() for item in gradients(quarantine)])
    routed_B = torch.tensor(log.fractions, dtype=torch.float64)
    assert {0.0, 1.0} == set(log.fractions)
    kept_B = 1 - routed_B
    if recentre:
        rows: Any = rollouts.advantages_B.double(), kept_B
        kept_B = torch.tensor(scales(*(row.tolist() for row in rows)), dtype=torch.float64)
    deployed = differences(quarantine, rollouts, "deployed", rollouts.knob_B)
    held = differences(quarantine, rollouts, "quarantine", rollouts.knob_B)
    if not apart:  # one place, one gradient: also where the quarantine did not act
        held = torch.where(rollouts.knob_B[:, None], held, deployed)
    expected = torch.cat([kept_B @ deployed, routed_B @ held])
    assert float((found - expected).abs().max()) < 1e-7


@pytest.mark.parametrize("kind", ["lora_frozen_b", "lora_split"])
def test_accumulated_parts_in_any_order_equal_the_whole(kind: str) -> None:
    whole, cut = made(kind), made(kind)
    log = routed(whole, [slice(None)])
    again = routed(cut, [slice(7, 12), slice(0, 4), slice(4, 7)])
    assert sorted(log.fractions) == sorted(again.fractions)
    for one, other in zip(gradients(whole), gradients(cut), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("reentrant", [True, False])
def test_a_checkpointed_forward_gives_the_same_gradients(reentrant: bool) -> None:
    plain, checkpointed = made(), made(checkpointed=True, reentrant=reentrant)
    routed(plain, [slice(None)])
    routed(checkpointed, [slice(None)])
    every = gradients(plain)
    assert every
    for one, other in zip(every, gradients(checkpointed), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-12)


def test_a_share_of_the_rewarded_rollouts_of_each_state_is_routed() -> None:
    log = routed(made(), [slice(None)])
    rollouts = batch()
    for knob in (True, False):
        rows = rollouts.knob_B == knob
        rewarded = int((rollouts.advantages_B[rows] > 0).sum())
        picked = sum(f for f, row in zip(log.fractions, rows.tolist(), strict=True) if row)
        assert picked == -(-3 * rewarded // 10)
    assert all(
        not fraction or advantage > 0
        for fraction, advantage in zip(log.fractions, rollouts.advantages_B.tolist(), strict=True)
    )


def test_a_step_needs_no_labels_of_an_oracle() -> None:
    log = routed(made(), [slice(None)])
    assert set(log.split) == {"on.positive", "on.negative", "off.positive", "off.negative"}
    assert log.auroc != log.auroc


def test_dropping_leaves_the_quarantine_without_a_gradient() -> None:
    quarantine = made()
    router = Router(quarantine, gate(action="drop"))
    log = routed(quarantine, [slice(None)], router)
    kept, held = (
        [item for items in quarantine.adapters.parameters(block).values() for item in items]
        for block in ("deployed", "quarantine")
    )
    assert log.mass > 0
    assert all(item.grad is not None and not item.grad.any() for item in held)
    assert any(item.grad is not None and item.grad.any() for item in kept)
    assert not router.deal(8, group=2).any()


def test_prompts_are_dealt_out_by_their_exact_share() -> None:
    router = Router(made(), gate(off_share=0.3))
    dealt = [router.deal(5, group=2) for _ in range(20)]
    assert sum(int((~states[::2]).sum()) for states in dealt) == 30
    assert all(torch.equal(states[::2], states[1::2]) for states in dealt)
    first, second = dealt[0].tolist(), dealt[1].tolist()
    assert first == sorted(first)
    assert second == sorted(second, reverse=True)


def test_a_state_of_another_action_is_refused() -> None:
    quarantine, whole = made(), batch()
    router = Router(quarantine, gate())
    with router.record(whole.advantages_B, whole.knob_B, group_B=whole.group_B):
        whole.losses_B(quarantine.model).sum().backward()
    router.route()
    with pytest.raises(UsageError, match=r"of another gate.*here it is 'drop'"):
        Router(quarantine, gate(action="drop")).load(router.state())


def test_a_router_goes_on_bit_for_bit() -> None:
    def trained(quarantine: Quarantine, router: Router, steps: int) -> None:
        optimiser = torch.optim.SGD(quarantine.parameters(), 0.1)
        for _ in range(steps):
            router.deal(4)
            routed(quarantine, [slice(None)], router)
            optimiser.step()
            optimiser.zero_grad()

    whole, first, second = made(), made(), made()
    router = Router(whole, gate(refresh=3))
    trained(whole, router, 7)
    before = Router(first, gate(refresh=3))
    trained(first, before, 4)
    after = Router(second, gate(refresh=3))
    second.load(first.state())
    after.load(before.state())
    trained(second, after, 3)
    assert all(torch.equal(whole.state()[name], item) for name, item in second.state().items())
    assert torch.equal(router.deal(3), after.deal(3))


class TestBadInput:
    def test_a_pass_without_groups_cannot_be_recentred(self) -> None:
        router, rollouts = Router(made(), gate()), batch()
        with (
            pytest.raises(UsageError, match="give group_B, or recentre=False"),
            router.record(rollouts.advantages_B, rollouts.knob_B),
        ):
            pass

    def test_lengths_have_to_fit(self) -> None:
        router, rollouts = Router(made(), gate()), batch()
        with (
            pytest.raises(UsageError, match="one advantage, knob state and group"),
            router.record(rollouts.advantages_B[1:], rollouts.knob_B, group_B=rollouts.group_B),
        ):
            pass

    def test_a_pass_without_a_backward_is_an_error(self) -> None:
        quarantine, rollouts = made(), batch()
        router = Router(quarantine, gate(recentre=False))
        with (
            pytest.raises(UsageError, match="no backward pass"),
            router.record(rollouts.advantages_B, rollouts.knob_B),
        ):
            rollouts.losses_B(quarantine.model)

    def test_a_step_without_a_record_is_an_error(self) -> None:
        with pytest.raises(UsageError, match="nothing was recorded"):
            Router(made(), gate()).route()


GPUS = torch.cuda.device_count()
NCCL = pytest.param(
    "cuda", marks=pytest.mark.skipif(GPUS < 2, reason=f"NCCL needs two GPUs, here are {GPUS}")
)


@pytest.mark.slow
@pytest.mark.parametrize("split", ["even", "uneven", "idle"])
@pytest.mark.parametrize("device", ["cpu", NCCL])
def test_two_processes_make_the_step_of_one(device: str, split: str, tmp_path: Path) -> None:
    script = Path(__file__).with_name("two_ranks.py")
    launch = ["-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2"]
    root = str(Path(__file__).parents[3])
    subprocess.run(
        [sys.executable, *launch, str(script), split, str(tmp_path), device],
        check=True, timeout=600, cwd=root,
        env={"PYTHONPATH": os.pathsep.join([root, *sys.path]), "PATH": "", "NCCL_NVLS_ENABLE": "0"},
    )  # fmt: skip
    quarantine = made()
    log = routed(quarantine, [slice(None)])
    wanted = [item.flatten().tolist() for item in gradients(quarantine)]
    for rank in range(2):
        found = json.loads((tmp_path / f"{rank}.json").read_text())
        assert found["fractions"] == list(log.fractions)
        for one, other in zip(wanted, found["gradients"], strict=True):
            assert one == pytest.approx(other, rel=1e-9, abs=1e-12)
