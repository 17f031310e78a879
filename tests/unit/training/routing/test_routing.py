"""Routing: nothing is lost, and the record says what went where."""

from __future__ import annotations

import json
import math

import pytest
import torch
from tests.unit.training.fakes_routing import (
    FakeGradients,
    captured,
    judged,
    make_pairs,
    make_policy,
    unit,
    view_of,
)

from unhack.core.errors import UsageError
from unhack.training.routing.gate import Gated, GateView
from unhack.training.routing.split import read_gate_log, recorded_step, route
from unhack.training.worlds.world import Judged


def _grads(policy, block):
    parameters = policy.adapters.parameters(block)
    return {
        name: torch.cat([item.grad.flatten() for item in items])
        for name, items in parameters.items()
    }


class _Assigned:
    """Adapters that remember what was assigned."""

    def assign(self, deployed, quarantine):
        self.deployed, self.quarantine = deployed, quarantine


def _route(gradients, gated, **named):
    adapters = _Assigned()
    return adapters, route(gradients, gated, adapters, **named)  # pyright: ignore[reportArgumentType]


class TestConservation:
    @pytest.mark.parametrize("kind", ["lora_frozen_b", "svd", "lora_split"])
    @pytest.mark.parametrize("shape", ["rollout", "module", "token", "both"])
    def test_what_both_blocks_get_is_the_unrouted_gradient(self, kind, shape):
        policy, pairs = make_policy(kind), make_pairs(3)
        gradients = captured(policy, pairs, [1.0, -0.5, 0.0, 2.0, 0.3, -1.0])
        tokens, modules = gradients.norms_B_T_M().shape[1:]
        sizes = {"rollout": (6, 1, 1), "module": (6, 1, modules), "token": (6, tokens, 1),
                 "both": (6, tokens, modules)}  # fmt: skip
        fractions = torch.rand(sizes[shape], generator=torch.Generator().manual_seed(0))
        total = gradients.sums(torch.ones(6, 1, 1), block="deployed")
        route(gradients, Gated(fractions), policy.adapters)
        deployed, quarantine = _grads(policy, "deployed"), _grads(policy, "quarantine")
        if kind == "lora_split":  # blocks in different places: each has its own gradient
            other = gradients.sums(fractions, block="deployed")
            quarantine = other
        assert total
        for name, vector in total.items():
            assert torch.allclose(deployed[name] + quarantine[name], vector, atol=2e-5)

    def test_what_is_dropped_goes_to_no_block(self):
        policy, pairs = make_policy(), make_pairs(3)
        gradients = captured(policy, pairs, [1.0] * 6)
        fractions = torch.tensor([1.0, 0.5, 0.0, 0.0, 0.0, 0.0]).view(-1, 1, 1)
        log = route(gradients, Gated(fractions), policy.adapters, action="drop")
        kept = gradients.sums(1 - fractions, block="deployed")
        assert all(item.abs().max() == 0 for item in _grads(policy, "quarantine").values())
        deployed = _grads(policy, "deployed")
        assert all(torch.allclose(deployed[name], kept[name], atol=1e-6) for name in kept)
        assert log.mass == 1.5

    def test_what_is_reversed_is_learnt_with_the_opposite_sign(self):
        policy, pairs = make_policy(), make_pairs(3)
        gradients = captured(policy, pairs, [1.0] * 6)
        fractions = torch.tensor([1.0, 0.5, 0.0, 0.0, 0.0, 0.0]).view(-1, 1, 1)
        log = route(gradients, Gated(fractions), policy.adapters, action="reverse")
        turned = gradients.sums(1 - 2 * fractions, block="deployed")
        assert all(item.abs().max() == 0 for item in _grads(policy, "quarantine").values())
        deployed = _grads(policy, "deployed")
        assert all(torch.allclose(deployed[name], turned[name], atol=1e-6) for name in turned)
        assert log.mass == 1.5

    def test_without_fractions_the_deployed_block_gets_what_backpropagation_gives(self):
        policy, pairs = make_policy(), make_pairs(3)
        gradients = captured(policy, pairs, [1.0] * 6)
        route(gradients, Gated(torch.zeros(6, 1, 1)), policy.adapters)
        assert all(item.abs().max() == 0 for item in _grads(policy, "quarantine").values())
        for name, vector in gradients.sums(torch.ones(6, 1, 1), block="deployed").items():
            assert torch.allclose(_grads(policy, "deployed")[name], vector, atol=1e-6)

    def test_what_is_kept_and_routed_alike_is_given_to_both_blocks(self):
        gradients = FakeGradients(torch.randn(4, 2, 2, 3))
        view = view_of(gradients, [1.0, -1.0, 0.5, 2.0])
        adapters, log = _route(
            gradients, Gated(torch.ones(4, 1, 1), kept=torch.ones(4, 1, 1)), view=view
        )
        for name, vector in gradients.sums(torch.ones(4, 1, 1), block="deployed").items():
            assert torch.allclose(adapters.deployed[name], vector)
            assert torch.allclose(adapters.quarantine[name], vector)
        assert log.mass == 4.0
        assert log.cosine_blocks == pytest.approx(1.0)


class TestTheLog:
    gradients = FakeGradients(torch.tensor([
        [[[2.0, 0.0]]], [[[0.0, 1.0]]], [[[1.0, 0.0]]], [[[0.0, 3.0]]],
    ]))  # fmt: skip
    labels = [judged(hacked=True), judged(), judged(hacked=True), judged()]  # noqa: RUF012
    view = view_of(gradients, [1.0, -1.0, 0.0, 2.0], labels=labels, on=[True, True, True, False])
    gated = Gated(
        torch.tensor([0.5, 0.25, 1.0, 0.0]).view(4, 1, 1),
        scores_B=torch.tensor([0.9, 0.2, 0.3, 0.1]),
        log={"lower": 0.1, "upper": math.inf, "pair_accuracy": 1.0},
        direction={"m0": unit(1, 0)},
    )

    def test_mass_counts_active_rollouts_only(self):
        _, log = _route(self.gradients, self.gated, view=self.view)
        assert log.mass == pytest.approx(0.75)
        assert log.active == 3
        assert log.kept_share == pytest.approx(1 - 0.75 / 3)
        assert log.fractions == (0.5, 0.25, 0.0, 0.0)

    def test_the_kept_norm_weighs_rollouts_by_their_gradients(self):
        _, log = _route(self.gradients, self.gated, view=self.view)
        assert log.kept_norm == pytest.approx(1 - (0.5 * 2 + 0.25 * 1 + 1 * 1) / (2 + 1 + 1 + 3))

    def test_energies_and_cosines_are_of_the_summed_gradients(self):
        adapters, log = _route(self.gradients, self.gated, view=self.view)
        deployed, quarantine = adapters.deployed["m0"], adapters.quarantine["m0"]
        assert log.energy_deployed == pytest.approx((deployed @ deployed).item())
        assert log.energy_quarantine == pytest.approx((quarantine @ quarantine).item())
        cosine = torch.cosine_similarity(deployed, quarantine, dim=0).item()
        assert log.cosine_blocks == pytest.approx(cosine)
        assert log.cosine_deployed == pytest.approx((deployed[0] / deployed.norm()).item())

    def test_fractions_are_split_by_knob_sign_and_label(self):
        _, log = _route(self.gradients, self.gated, view=self.view)
        assert set(log.split) == {
            "on.positive", "on.positive.hacked", "on.negative", "on.negative.other",
            "off.positive", "off.positive.other",
        }  # fmt: skip
        cell = log.split["on.positive.hacked"]
        assert cell == pytest.approx({"count": 1.0, "fraction": 0.5, "score": 0.9})

    def test_the_score_is_ranked_among_rewarded_rollouts(self):
        _, log = _route(self.gradients, self.gated, view=self.view)
        assert log.auroc == 1.0

    def test_the_hacks_of_each_mode_are_ranked_alone(self):
        judged = [
            Judged(reward=3.0, solved=False, channel=True, mechanism=mode) for mode in "abb"
        ] + [Judged(reward=3.0, solved=True, channel=False)] * 2  # fmt: skip
        given = FakeGradients(torch.ones(5, 1, 1, 2))
        view = GateView(given, torch.ones(5), torch.ones(5, dtype=torch.bool), judged, 0)
        gated = Gated(torch.zeros(5, 1, 1), torch.tensor([0.9, 0.1, 0.3, 0.2, 0.4]))
        _, log = _route(view.gradients, gated, view=view)
        assert log.aurocs == {"a": 1.0, "b": 0.25}
        assert log.record(0)["aurocs"] == log.aurocs

    def test_without_a_view_activity_is_having_a_gradient(self):
        _, log = _route(self.gradients, self.gated)
        assert (log.active, log.mass) == (4, 1.75)
        assert log.split == {}

    def test_unrouted_gradients_are_there_when_asked_for(self):
        _, log = _route(self.gradients, self.gated, view=self.view, totals=True)
        assert log.totals["quarantine"]["m0"].tolist() == [3.0, 4.0]
        assert not _route(self.gradients, self.gated, view=self.view)[1].totals


class TestTheRecord:
    def _written(self, folder, steps):
        lines = []
        for step in steps:
            _, log = _route(TestTheLog.gradients, TestTheLog.gated, view=TestTheLog.view)
            lines.append(json.dumps(log.record(step), allow_nan=False))
        (folder / "gate.jsonl").write_text("\n".join(lines) + "\n")
        return folder

    def test_a_record_is_plain_data_that_is_read_back(self, tmp_path):
        recorded = read_gate_log(self._written(tmp_path, [0, 1]))[1]
        assert recorded.mass == pytest.approx(0.75)
        assert recorded.active == 3
        assert recorded.kept_share == pytest.approx(0.75)
        assert recorded.fractions == (0.5, 0.25, 0.0)

    def test_the_record_has_no_infinite_number(self, tmp_path):
        _, log = _route(TestTheLog.gradients, TestTheLog.gated, view=TestTheLog.view)
        record = log.record(7)
        assert record["step"] == 7
        assert record["gate"]["upper"] is None
        assert record["pair_accuracy"] == 1.0
        assert {"mass", "active", "kept_share", "fractions", "energy_deployed", "split",
                "energy_quarantine", "cosine_blocks"} <= record.keys()  # fmt: skip

    def test_a_step_without_a_record_inside_the_run_routes_nothing(self, tmp_path):
        steps = read_gate_log(self._written(tmp_path, [0, 2]))
        assert recorded_step(steps, 1, folder="run").mass == 0
        assert recorded_step(steps, 1, folder="run").kept_share == 1
        with pytest.raises(UsageError, match="at least as long"):
            recorded_step(steps, 3, folder="run")
