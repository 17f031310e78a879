"""The optimiser, against torch's AdamW and against its own promises."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from pydantic import ValidationError
from tests.unit.training.fakes_routing import make_policy
from torch import nn

from unhack.core.errors import UsageError
from unhack.training.config.settings import OptimiserSettings
from unhack.training.loop.optimiser import Optimiser


class Blocks:
    """Two modules, two parameters in the first: enough of `Adapters` for an optimiser."""

    kind = "lora_split"

    def __init__(self, *, wide: bool = False) -> None:
        torch.manual_seed(4)
        self.blocks = {
            block: {
                "one": [nn.Parameter(torch.randn(2, 3)), nn.Parameter(torch.randn(4 + extra))],
                "two": [nn.Parameter(torch.randn(5))],
            }
            for block, extra in (("deployed", 0), ("quarantine", int(wide)))
        }

    def parameters(self, block: str) -> dict[str, list[nn.Parameter]]:
        return self.blocks[block]

    def flat(self, block: str) -> list[nn.Parameter]:
        return [item for items in self.blocks[block].values() for item in items]

    def give(self, step: int, *, share: float = 0.0) -> dict[str, dict[str, torch.Tensor]]:
        """Gradients of a step, `share` of them to the quarantine; the unrouted ones."""
        generator = torch.Generator().manual_seed(step)
        drawn = [torch.randn(item.shape, generator=generator) for item in self.flat("deployed")]
        for block, part in (("deployed", 1 - share), ("quarantine", share)):
            for item, gradient in zip(self.flat(block), drawn, strict=True):
                item.grad = part * gradient
        flat = {"one": torch.cat([drawn[0].flatten(), drawn[1]]), "two": drawn[2]}
        return {"deployed": flat, "quarantine": flat}

    def values(self, block: str) -> torch.Tensor:
        return torch.cat([item.detach().flatten() for item in self.flat(block)]).clone()


def optimiser_of(blocks: Any, **fields: Any) -> Any:
    return Optimiser(OptimiserSettings(rate=1e-2, **fields), blocks)


def record(folder: Path, kept: list[float]) -> str:
    lines = [json.dumps({"step": step, "mass": 0.0, "active": 1, "kept_share": share,
                         "fractions": [0.0]}) for step, share in enumerate(kept)]  # fmt: skip
    (folder / "gate.jsonl").write_text("\n".join(lines))
    return str(folder)


class TestPlain:
    @pytest.mark.slow
    def test_it_is_adamw_with_clipping_over_both_blocks(self):
        blocks, peer = Blocks(), Blocks()
        mine = optimiser_of(blocks, clip=0.5)
        everything = [*peer.flat("deployed"), *peer.flat("quarantine")]
        theirs = torch.optim.AdamW(everything, lr=1e-2, betas=(0.9, 0.99), weight_decay=0.0)
        for step in range(6):
            blocks.give(step, share=0.3)
            peer.give(step, share=0.3)
            nn.utils.clip_grad_norm_(everything, 0.5)
            theirs.step()
            mine.step()
            for block in ("deployed", "quarantine"):
                assert torch.equal(blocks.values(block), peer.values(block))

    def test_the_real_adapters_move_and_their_gradients_are_taken_away(self):
        adapters = make_policy().adapters
        mine = optimiser_of(adapters)
        parameters = adapters.parameters("deployed").values()
        for items in parameters:
            items[0].grad = torch.ones_like(items[0])
        stepped = mine.step()
        assert all(items[0].grad is None for items in parameters)
        assert all(
            torch.allclose(items[0], torch.full_like(items[0], -0.01), rtol=1e-3)
            for items in parameters
        )
        assert stepped.norm_quarantine == 0
        assert all(items[0].abs().max() == 0
                   for items in adapters.parameters("quarantine").values())  # fmt: skip

    def test_a_block_without_gradient_stays_where_it_is(self):
        blocks = Blocks()
        mine, before = optimiser_of(blocks), blocks.values("quarantine")
        for step in range(3):
            blocks.give(step, share=0.0)
            mine.step()
        assert torch.equal(blocks.values("quarantine"), before)

    def test_the_rate_rises_in_a_line(self):
        blocks = Blocks()
        mine = optimiser_of(blocks, warmup=4)
        rates = []
        for step in range(6):
            blocks.give(step)
            rates.append(mine.step().rate)
        assert rates == pytest.approx([0.0025, 0.005, 0.0075, 0.01, 0.01, 0.01])

    def test_the_rate_falls_in_a_line_and_stays_at_zero(self):
        blocks = Blocks()
        mine = optimiser_of(blocks, warmup=2, cooldown=(4, 8))
        rates = []
        for step in range(9):
            blocks.give(step)
            rates.append(mine.step().rate)
        assert rates == pytest.approx(
            [0.005, 0.01, 0.01, 0.01, 0.01, 0.0075, 0.005, 0.0025, 0.0], abs=1e-12
        )

    @pytest.mark.parametrize("cooldown", [(5, 5), (8, 4), (-1, 4), (3, 0)])
    def test_a_cooldown_that_does_not_fall_is_refused(self, cooldown):
        with pytest.raises(ValidationError, match="first < last"):
            OptimiserSettings(cooldown=cooldown)

    def test_the_norms_are_those_before_clipping(self):
        blocks = Blocks()
        blocks.give(0, share=0.25)
        whole = torch.cat([item.grad.flatten() for item in blocks.flat("deployed")]).norm().item()
        stepped = optimiser_of(blocks, clip=1e-3).step()
        assert stepped.norm_deployed == pytest.approx(whole, rel=1e-5)
        assert stepped.norm_quarantine == pytest.approx(whole / 3, rel=1e-5)


class TestSharedMoments:
    def test_a_block_that_gets_everything_steps_like_adamw(self):
        blocks, peer = Blocks(), Blocks()
        mine, theirs = optimiser_of(blocks, shared_moments=True), optimiser_of(peer)
        for step in range(5):
            mine.step(blocks.give(step))
            peer.give(step)
            theirs.step()
        assert torch.allclose(blocks.values("deployed"), peer.values("deployed"), atol=1e-6)
        assert torch.equal(blocks.values("quarantine"), peer.values("quarantine"))

    @pytest.mark.parametrize("shared", [True, False])
    def test_a_hundredth_of_the_gradient_is_a_hundredth_of_the_step_only_when_shared(self, shared):
        blocks = Blocks()
        before = blocks.values("quarantine")
        mine = optimiser_of(blocks, shared_moments=shared, clip=100.0)
        for step in range(5):
            mine.step(blocks.give(step, share=0.01))
        moved = (blocks.values("quarantine") - before).abs().mean().item()
        kept = (blocks.values("deployed") - Blocks().values("deployed")).abs().mean().item()
        assert moved / kept == pytest.approx(0.01 / 0.99 if shared else 1.0, rel=0.01)

    def test_the_sum_of_both_gradients_stands_in_for_the_unrouted_one(self):
        blocks, peer = Blocks(), Blocks()
        one, two = (optimiser_of(item, shared_moments=True, clip=0.1) for item in (blocks, peer))
        for step in range(4):
            one.step(blocks.give(step, share=0.4))
            peer.give(step, share=0.4)
            two.step()
        for block in ("deployed", "quarantine"):
            assert torch.allclose(blocks.values(block), peer.values(block), atol=1e-6)

    def test_blocks_of_different_shapes_need_the_unrouted_gradients(self):
        blocks = Blocks(wide=True)
        with pytest.raises(UsageError, match="unrouted"):
            optimiser_of(blocks, shared_moments=True).step()


class TestShrinkage:
    def test_the_deployed_update_is_scaled_by_the_recorded_kept_share(self, tmp_path):
        kept = [1.0, 0.5, 0.25, 0.0]
        blocks, peer = Blocks(), Blocks()
        mine, theirs = optimiser_of(blocks, shrink=record(tmp_path, kept)), optimiser_of(peer)
        for step, share in enumerate(kept):
            before, other = blocks.values("deployed"), peer.values("deployed")
            blocks.give(step)
            peer.give(step)
            assert mine.step().kept == share
            theirs.step()
            moved = blocks.values("deployed") - before
            whole = peer.values("deployed") - other
            assert torch.allclose(moved, share * whole, atol=1e-6)

    def test_the_share_is_that_of_the_run_s_step(self, tmp_path):
        blocks = Blocks()
        mine = optimiser_of(blocks, shrink=record(tmp_path, [1.0, 0.5]))
        for step, place in enumerate([0, 0, 1, 1]):
            blocks.give(step)
            assert mine.step(at=place).kept == [1.0, 0.5][place]

    def test_a_record_that_is_too_short_or_missing_is_an_error(self, tmp_path):
        with pytest.raises(UsageError, match="is missing"):
            optimiser_of(Blocks(), shrink=str(tmp_path))
        blocks = Blocks()
        mine = optimiser_of(blocks, shrink=record(tmp_path, [1.0]))
        blocks.give(0)
        mine.step()
        with pytest.raises(UsageError, match="at least as long"):
            mine.step()


class TestResume:
    @pytest.mark.parametrize("shared", [True, False])
    def test_a_resumed_optimiser_goes_on_bit_for_bit(self, shared):
        fields = {"shared_moments": shared, "warmup": 2, "cooldown": (2, 9)}
        whole, half = Blocks(), Blocks()
        one, two = optimiser_of(whole, **fields), optimiser_of(half, **fields)
        for step in range(6):
            one.step(whole.give(step, share=0.2))
        for step in range(3):
            two.step(half.give(step, share=0.2))
        three = optimiser_of(half, **fields)
        three.load(two.state())
        for step in range(3, 6):
            three.step(half.give(step, share=0.2))
        for block in ("deployed", "quarantine"):
            assert torch.equal(whole.values(block), half.values(block))
        assert three.steps == 6

    def test_the_state_before_the_first_step_can_be_loaded(self):
        blocks = Blocks()
        fresh = optimiser_of(blocks)
        fresh.load(optimiser_of(blocks).state())
        blocks.give(0)
        assert fresh.step().rate == 0.01
