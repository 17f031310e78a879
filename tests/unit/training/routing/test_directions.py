"""Extraction of a hack direction, against plain differentiation."""

from __future__ import annotations

import math

import pytest
import torch
from tests.unit.training.fakes_routing import EXPLOIT, PAD, captured, make_pairs, make_policy

from unhack.core.errors import UsageError
from unhack.training.routing.directions import (
    block_shapes,
    extract,
    pair_rollouts,
    random_direction,
)  # fmt: skip

CPU = torch.device("cpu")
KINDS = ["lora_frozen_b", "svd", "lora_split"]


def _rows(policy, pairs):
    """The gradient of each side's mean negative log-likelihood, one side at a time: [2P, M, N]."""
    rollouts = pair_rollouts(pairs, pad=PAD, device=CPU)
    names = policy.adapters.names
    rows = []
    for index in range(rollouts.count):
        signs = [float(row == index) for row in range(rollouts.count)]
        scale = 1 / rollouts.mask_B_T[index].sum().item()
        gradients = captured(policy, pairs, [sign * scale for sign in signs])
        total = gradients.sums(torch.ones(rollouts.count, 1, 1), block="deployed")
        rows.append([total[name].double() for name in names])
    return rows


class TestExtraction:
    @pytest.mark.parametrize("kind", KINDS)
    def test_the_direction_is_the_unit_mean_difference_of_each_module(self, kind):
        policy, pairs = make_policy(kind), make_pairs(4)
        found = extract(policy, pairs, pad=PAD)
        rows = _rows(policy, pairs)
        assert policy.adapters.names
        for number, name in enumerate(policy.adapters.names):
            mean = sum(rows[2 * p][number] - rows[2 * p + 1][number] for p in range(4)) / 4
            assert torch.allclose(found.direction[name].double(), mean / mean.norm(), atol=1e-5)

    def test_the_cosines_are_those_of_the_whole_gradient_and_of_each_module(self):
        policy, pairs = make_policy(), make_pairs(4)
        found = extract(policy, pairs, pad=PAD)
        whole = torch.cat([found.direction[name].double() for name in policy.adapters.names])
        every = _rows(policy, pairs)
        assert every
        for index, row in enumerate(every):
            side = found.pair_cosines_clean if index % 2 else found.pair_cosines_hack
            flat = torch.cat(row)
            cosine = flat @ whole / (flat.norm() * whole.norm())
            assert side[index // 2].item() == pytest.approx(cosine.item(), abs=1e-5)
            modules = found.module_cosines_clean if index % 2 else found.module_cosines_hack
            for number, name in enumerate(policy.adapters.names):
                one = row[number] @ found.direction[name].double() / row[number].norm()
                assert modules[index // 2, number].item() == pytest.approx(one.item(), abs=1e-5)

    @pytest.mark.parametrize("exploit", [True, False])
    def test_the_accuracy_is_that_of_directions_made_without_the_pair(self, exploit):
        policy, pairs = make_policy(), make_pairs(6, exploit=exploit)
        rows = _rows(policy, pairs)
        right = 0
        for left in range(6):
            scores = [0.0, 0.0]
            for number in range(len(policy.adapters.names)):
                others = [p for p in range(6) if p != left]
                mean = sum(rows[2 * p][number] - rows[2 * p + 1][number] for p in others)
                for side in range(2):
                    scores[side] += (rows[2 * left + side][number] @ mean / mean.norm()).item()
            lengths = [torch.cat(rows[2 * left + side]).norm().item() for side in range(2)]
            right += scores[0] / lengths[0] > scores[1] / lengths[1]
        assert extract(policy, pairs, pad=PAD).accuracy == pytest.approx(right / 6)

    def test_hack_pairs_are_told_apart_better_than_placebo_pairs(self):
        policy = make_policy()
        real = extract(policy, make_pairs(12), pad=PAD)
        placebo = extract(policy, make_pairs(12, exploit=False), pad=PAD)
        assert real.accuracy == 1.0
        assert placebo.accuracy < 0.8

    def test_passes_over_parts_of_the_pairs_give_what_one_pass_gives(self, monkeypatch):
        policy, pairs = make_policy(), make_pairs(5)
        whole = extract(policy, pairs, pad=PAD)
        monkeypatch.setattr(policy, "tokens_per_pass", 50)
        parts = extract(policy, pairs, pad=PAD)
        assert parts.accuracy == whole.accuracy
        assert torch.allclose(parts.pair_cosines_hack, whole.pair_cosines_hack, atol=1e-5)
        for name, vector in whole.direction.items():
            assert torch.allclose(parts.direction[name], vector, atol=1e-5)

    def test_gradients_that_wait_for_a_step_are_left_as_they_are(self):
        policy = make_policy()
        parameters = policy.adapters.parameters("deployed")["model.layers.0.mlp.up_proj"]
        parameters[0].grad = torch.full_like(parameters[0], 7.0)
        extract(policy, make_pairs(2), pad=PAD)
        assert parameters[0].grad is not None
        assert torch.equal(parameters[0].grad, torch.full_like(parameters[0], 7.0))
        others = policy.adapters.parameters("quarantine").values()
        assert all(item.grad is None for items in others for item in items)

    def test_the_quarantine_is_off_while_extracting(self):
        policy, pairs = make_policy(), make_pairs(3)
        before = extract(policy, pairs, pad=PAD)
        with torch.no_grad():
            for items in policy.adapters.parameters("quarantine").values():
                for item in items:
                    item.normal_()
        after = extract(policy, pairs, pad=PAD)
        assert torch.equal(before.pair_cosines_hack, after.pair_cosines_hack)

    def test_a_single_pair_has_a_direction_but_no_accuracy(self):
        found = extract(make_policy(), make_pairs(1), pad=PAD)
        assert math.isnan(found.accuracy)
        assert found.pair_cosines_hack.item() > found.pair_cosines_clean.item()

    def test_no_pairs_is_an_error_of_the_caller(self):
        with pytest.raises(UsageError, match="at least one pair"):
            extract(make_policy(), [], pad=PAD)

    def test_rows_are_padded_where_policies_expect_it(self):
        rollouts = pair_rollouts(make_pairs(3), pad=PAD, device=CPU)
        assert rollouts.count == 6
        assert not rollouts.quarantine_B.any()
        assert (rollouts.prompt_B_P[:, -1] != PAD).all()
        assert (rollouts.tokens_B_T[:, 0] != PAD).all()
        assert (rollouts.tokens_B_T[0] == EXPLOIT).sum() == 4


class TestRandomDirections:
    def test_they_have_unit_norm_in_each_module(self):
        drawn = random_direction(block_shapes(make_policy().adapters), seed=1)
        assert all(item.norm().item() == pytest.approx(1, abs=1e-5) for item in drawn.values())

    def test_a_seed_decides_them(self):
        like = {"one": torch.zeros(50), "two": torch.zeros(50)}
        one, same, other = (random_direction(like, seed=seed) for seed in (1, 1, 2))
        assert torch.equal(one["one"], same["one"])
        assert not torch.equal(one["one"], other["one"])
        assert not torch.equal(one["one"], one["two"])

    def test_the_band_of_a_random_direction_has_almost_no_width(self):
        policy, pairs = make_policy(), make_pairs(12)
        real = extract(policy, pairs, pad=PAD)
        width = real.pair_cosines_hack.quantile(0.75) - real.pair_cosines_clean.quantile(0.75)
        widths = []
        for seed in range(5):
            drawn = random_direction(real.direction, seed=seed)
            found = extract(policy, pairs, pad=PAD, direction=drawn)
            edges = found.pair_cosines_hack.quantile(0.75), found.pair_cosines_clean.quantile(0.75)
            widths.append((edges[0] - edges[1]).abs().item())
        assert width > 0.3
        assert max(widths) < width / 5
