"""Gates: what each routes, what it may look at, and what a resumed run goes on from."""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.unit.training.fakes_routing import (
    PAD,
    FakeGradients,
    FakeWorld,
    captured,
    judged,
    make_pairs,
    make_policy,
    unit,
    view_of,
)  # fmt: skip

from unhack.core.errors import UsageError
from unhack.training.config.settings import GateSettings, RunSettings, Settings
from unhack.training.routing import directions
from unhack.training.routing.gates.band import Band, calibrate, top_share
from unhack.training.routing.gates.cosine import CosineGate
from unhack.training.routing.gates.decide import ENOUGH
from unhack.training.routing.gates.mass import mix_seed, portions
from unhack.training.routing.gates.registry import make_gate
from unhack.training.routing.split import RecordedStep, per_rollout


def settings_of(**gate: Any) -> Settings:
    return Settings(gate=GateSettings(**gate))


def gate_of(policy: Any = None, **gate: Any) -> Any:
    return make_gate(settings_of(**gate), policy, FakeWorld())  # pyright: ignore[reportArgumentType]


def fixed_gate(direction: dict[str, torch.Tensor], edges: tuple[float, float], **gate: Any) -> Any:
    """A cosine gate with a given direction and band, over fake gradients."""
    made = CosineGate(
        GateSettings(kind="cosine", refresh=0, **gate), policy=make_policy(), pairs=[], pad=PAD,
        seed=0,
    )  # fmt: skip
    count = 1 if gate.get("scope", "global") == "global" else len(direction)
    lower, upper = (torch.full((count,), edge) for edge in edges)
    state = {"direction": direction, "total": {}, "extracted": 0, "accuracy": 1.0,
             "decision": {"lower": lower, "upper": upper}}  # fmt: skip
    made.load(state)
    return made


def record(folder: Path, fractions: list[list[float]]) -> str:
    """A run folder whose gate log has these fractions of active rollouts, step by step."""
    lines = [
        json.dumps({
            "step": step, "mass": math.fsum(row), "active": len(row),
            "kept_share": 1 - math.fsum(row) / len(row), "fractions": [*row, 0.0, 0.0],
        })
        for step, row in enumerate(fractions)
    ]  # fmt: skip
    (folder / "gate.jsonl").write_text("\n".join(lines) + "\n")
    return str(folder)


class TestBands:
    def test_the_ramp_keeps_below_and_routes_above(self):
        band = Band(torch.tensor([0.1]), torch.tensor([0.3]))
        found = band.fractions(torch.tensor([[-1.0], [0.1], [0.2], [0.3], [1.0]]))
        assert found.flatten().tolist() == pytest.approx([0, 0, 0.5, 1, 1])

    @pytest.mark.parametrize("upper", [0.1, 0.05, math.nan])
    def test_a_degenerate_band_routes_nothing_and_says_so(self, upper):
        band = Band(torch.tensor([0.1]), torch.tensor([upper]))
        assert band.fractions(torch.tensor([[-1.0], [0.1], [1.0]])).sum() == 0
        assert band.log()["degenerate"] == 1.0

    def test_a_band_below_zero_is_degenerate_for_cosines_only(self):
        lower, upper = torch.tensor([-0.7]), torch.tensor([-0.5])
        assert Band(lower, upper).fractions(torch.tensor([[0.0]])).sum() == 0
        assert Band(lower, upper, -math.inf).fractions(torch.tensor([[0.0]])).sum() == 1

    def test_a_floored_band_keeps_what_is_orthogonal_to_the_direction(self):
        hack, clean = torch.tensor([[0.1], [0.1]]), torch.tensor([[-0.5], [-0.5]])
        assert calibrate(hack, clean, edges="p75").fractions(torch.zeros(1, 1)).item() > 0.8
        assert calibrate(hack, clean, edges="floored").fractions(torch.zeros(1, 1)).item() == 0

    def test_only_the_degenerate_one_of_several_bands_is_shut(self):
        band = Band(torch.tensor([0.1, 0.3]), torch.tensor([0.3, 0.1]))
        assert band.fractions(torch.tensor([[1.0, 1.0]])).tolist() == [[1.0, 0.0]]
        assert band.log()["degenerate"] == 0.5

    def test_edges_come_from_the_sides_of_pairs(self):
        hack = torch.tensor([[0.5], [0.7], [0.9], [1.0], [0.6]])
        clean = torch.tensor([[0.0], [0.1], [0.2], [-0.3], [0.4]])
        band = calibrate(hack, clean, edges="p75")
        assert (band.lower_K.item(), band.upper_K.item()) == pytest.approx((0.2, 0.9))
        band = calibrate(hack, clean, edges="mean")
        assert (band.lower_K.item(), band.upper_K.item()) == pytest.approx((0.08, 0.74))
        band = calibrate(hack, clean, edges="extremes")
        assert (band.lower_K.item(), band.upper_K.item()) == pytest.approx((-0.3, 1.0))

    def test_the_top_share_is_exact_even_with_equal_scores(self):
        scores, present = torch.zeros(10, 1, 1), torch.ones(10, 1, 1, dtype=torch.bool)
        present[:2] = False
        found = top_share(scores, present, share=0.25)
        assert found.sum() == 2
        assert found[:2].sum() == 0
        for count in (50, 90, 100):
            many = torch.arange(float(count))[:, None, None]
            shared = top_share(many, torch.ones_like(many, dtype=torch.bool), share=0.3)
            assert shared.sum() == count * 3 // 10
        assert top_share(scores, present, share=0.0).sum() == 0
        assert top_share(scores, present, share=1.0).sum() == 8

    def test_the_top_share_is_taken_in_each_module(self):
        scores = torch.tensor([[[0.1, 0.9]], [[0.8, 0.2]]])
        found = top_share(scores, torch.ones_like(scores, dtype=torch.bool), share=0.5)
        assert found.tolist() == [[[0.0, 1.0]], [[1.0, 0.0]]]


class TestCosineScores:
    direction = {"m0": unit(1, 0), "m1": unit(0, 1)}  # noqa: RUF012 - not changed
    gradients = FakeGradients(torch.tensor([
        [[[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, 1.0]]],
        [[[2.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [2.0, 0.0]]],
        [[[0.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]]],
    ]))  # fmt: skip

    def test_the_global_score_is_one_cosine_over_all_modules(self):
        gated = fixed_gate(self.direction, (0.0, 1.0))(view_of(self.gradients, [1, 1, 1]))
        assert gated.scores_B.tolist() == pytest.approx([1.0, 0.5, 0.0])
        assert gated.fractions.flatten().tolist() == pytest.approx([1.0, 0.5, 0.0])

    def test_each_module_has_its_own_cosine_where_asked_for(self):
        gate = fixed_gate(self.direction, (0.0, 1.0), scope="module")
        gated = gate(view_of(self.gradients, [1, 1, 1]))
        assert gated.fractions.shape == (3, 1, 2)
        assert gated.fractions[1].flatten().tolist() == pytest.approx([1.0, 0.0])

    def test_with_one_module_both_scopes_agree(self):
        gradients = FakeGradients(torch.randn(5, 3, 1, 4))
        direction = {"m0": unit(1, 2, 3, 4)}
        view = view_of(gradients, [1.0] * 5)
        one = fixed_gate(direction, (-0.5, 0.5))(view).fractions
        other = fixed_gate(direction, (-0.5, 0.5), scope="module")(view).fractions
        assert torch.allclose(one, other)

    def test_tokens_are_scored_by_their_own_gradient(self):
        gate = fixed_gate(self.direction, (0.0, 1.0), granularity="token")
        gated = gate(view_of(self.gradients, [1, 1, 1]))
        half = math.sqrt(0.5)
        assert gated.fractions.shape == (3, 2, 1)
        assert gated.fractions[1].flatten().tolist() == pytest.approx([half, 0.0])
        assert per_rollout(gated.fractions, self.gradients)[1].item() == pytest.approx(half / 2)
        assert per_rollout(gated.fractions, self.gradients)[2].item() == 0

    def test_a_rollout_without_advantage_is_not_routed(self):
        gated = fixed_gate(self.direction, (0.0, 1.0))(view_of(self.gradients, [0, 1, 0]))
        assert gated.fractions.flatten().tolist() == pytest.approx([0.0, 0.5, 0.0])

    @pytest.mark.parametrize("kind", ["lora_frozen_b", "svd", "lora_split"])
    def test_rewarded_hacks_are_routed_and_punished_ones_kept(self, kind):
        policy, pairs = make_policy(kind), make_pairs(12)
        gate = CosineGate(GateSettings(kind="cosine"), policy=policy, pairs=pairs, pad=PAD, seed=0)
        rewarded = gate(view_of(captured(policy, pairs, [1.0] * 24), [1.0] * 24))
        punished = gate(view_of(captured(policy, pairs, [-1.0] * 24), [-1.0] * 24))
        assert torch.allclose(rewarded.scores_B, -punished.scores_B, atol=1e-5)
        fractions = rewarded.fractions.flatten()
        assert fractions[0::2].mean() > 0.5
        assert fractions[1::2].mean() < 0.25
        assert punished.fractions.flatten()[0::2].sum() == 0


class TestWhatAGateSees:
    """Oracle labels change the oracle gate alone, the detector's that of the detector."""

    gradients = FakeGradients(torch.randn(40, 2, 3, 4, generator=torch.Generator().manual_seed(1)))

    def _fractions(self, gate: Any, **label: bool) -> torch.Tensor:
        labels = [judged(**{name: value and row % 2 == 0 for name, value in label.items()})
                  for row in range(40)]  # fmt: skip
        return gate(view_of(self.gradients, [1.0, -1.0, 0.0, 1.0] * 10, labels=labels)).fractions

    def test_a_band_gate_is_blind_to_all_labels(self):
        gate = fixed_gate({f"m{index}": unit(1, 2, 3, 4) for index in range(3)}, (-0.5, 0.5))
        plain = self._fractions(gate)
        assert plain.sum() > 0
        for label in ("hacked", "detected", "solved"):
            assert torch.equal(self._fractions(gate, **{label: True}), plain)

    @pytest.mark.parametrize(("kind", "own", "other"), [
        ("oracle", "hacked", "detected"), ("detector", "detected", "hacked"),
    ])  # fmt: skip
    def test_a_label_gate_reads_its_own_label_only(self, kind, own, other):
        gate = gate_of(kind=kind)
        assert self._fractions(gate, **{other: True}).sum() == 0
        routed = self._fractions(gate, **{own: True}).flatten()
        assert routed.tolist() == [1.0, 0.0, 0.0, 0.0] * 10

    def test_a_solved_completion_is_no_hack(self):
        assert self._fractions(gate_of(kind="oracle"), hacked=True, solved=True).sum() == 0

    def test_the_online_band_reads_the_detector_but_not_the_oracle(self):
        labels = {f"m{index}": unit(1, 2, 3, 4) for index in range(3)}
        found = [
            self._fractions(fixed_gate(labels, (5.0, 6.0), calibration="online"), **label)
            for label in ({}, {"hacked": True}, {"detected": True})
        ]
        assert torch.equal(found[0], found[1])
        assert found[0].sum() == 0


class TestSimpleGates:
    view = view_of(FakeGradients(torch.ones(4, 1, 1, 2)), [1.0, 0.0, -1.0, 2.0])

    def test_without_a_gate_nothing_is_routed(self):
        assert gate_of(kind="none")(self.view).fractions.sum() == 0

    def test_a_constant_goes_to_every_active_rollout(self):
        found = gate_of(kind="constant", constant=0.25)(self.view).fractions.flatten()
        assert found.tolist() == [0.25, 0.0, 0.25, 0.25]

    def test_absorbing_gives_everything_to_both(self):
        gated = gate_of(kind="absorb")(self.view)
        assert gated.fractions.flatten().tolist() == [1.0, 0.0, 1.0, 1.0]
        assert gated.kept is not None
        assert gated.kept.flatten().tolist() == [1.0] * 4


class TestMass:
    recorded = RecordedStep(mass=1.6, active=4, kept_share=0.6, fractions=(0.9, 0.5, 0.2, 0.0))

    @pytest.mark.parametrize("count", [2, 3, 4, 5, 50])
    def test_the_recorded_mass_is_dealt_out_to_any_count_it_fits(self, count):
        dealt = portions(self.recorded, count=count)
        assert len(dealt.fractions) == count
        assert math.fsum(dealt.fractions) == pytest.approx(1.6)
        assert all(0 <= value <= 1 for value in dealt.fractions)
        assert dealt.missing == 0

    def test_mass_that_finds_no_room_is_reported(self):
        dealt = portions(self.recorded, count=1)
        assert dealt.fractions == (1.0,)
        assert dealt.missing == pytest.approx(0.6)
        assert portions(self.recorded, count=0).missing == pytest.approx(1.6)

    def test_seeds_of_several_numbers_differ(self):
        assert len({mix_seed(a, b) for a in range(20) for b in range(20)}) == 400


class TestReplay:
    rows = [[0.9, 0.5, 0.2, 0.0], [0.0, 0.0], [1.0, 1.0, 0.3, 0.2]]  # noqa: RUF012

    def _gate(self, folder: Path, **gate: Any) -> Any:
        return gate_of(kind="replay", replay=record(folder, self.rows), **gate)

    def test_the_mass_of_every_step_is_that_of_the_recorded_run(self, tmp_path):
        gate = self._gate(tmp_path)
        for step, row in enumerate(self.rows):
            gated = gate(view_of(FakeGradients(torch.ones(6, 1, 1, 2)), [1, 0, 2, -1, 0, 1.5],
                                 step=step))  # fmt: skip
            assert gated.fractions.sum().item() == pytest.approx(math.fsum(row))
            assert gated.log["missing_mass"] == 0
            assert sorted(gated.fractions.flatten().tolist())[-len(row):] == pytest.approx(
                sorted(row))  # fmt: skip

    def test_only_active_rollouts_get_a_share(self, tmp_path):
        gated = self._gate(tmp_path)(
            view_of(FakeGradients(torch.ones(6, 1, 1, 2)), [1, 0, 2, -1, 0, 1.5], step=2)
        )
        assert gated.fractions.flatten()[[1, 4]].sum() == 0

    def test_the_order_depends_on_seed_and_step_alone(self, tmp_path):
        view = view_of(FakeGradients(torch.ones(20, 1, 1, 2)), [1.0] * 20)
        one, same = self._gate(tmp_path), self._gate(tmp_path)
        one(dataclasses.replace(view, step=2))
        assert torch.equal(one(view).fractions, same(view).fractions)
        other = self._gate(tmp_path, seed=3)
        assert not torch.equal(one(view).fractions, other(view).fractions)

    def test_no_rollout_is_favoured(self, tmp_path):
        rows = [[1.0] * 2 + [0.0] * 6] * 200
        gate = gate_of(kind="replay", replay=record(tmp_path, rows))
        view = view_of(FakeGradients(torch.ones(8, 1, 1, 2)), [1.0] * 8)
        total = sum(gate(dataclasses.replace(view, step=step)).fractions for step in range(200))
        assert (total.flatten() - 50).abs().max() < 25  # four standard deviations

    def test_a_run_that_is_longer_than_its_record_stops(self, tmp_path):
        gate = self._gate(tmp_path)
        with pytest.raises(UsageError, match="no record of step 3"):
            gate(view_of(FakeGradients(torch.ones(1, 1, 1, 2)), [1.0], step=3))

    def test_a_missing_record_is_named(self, tmp_path):
        with pytest.raises(UsageError, match=r"gate\.jsonl is missing"):
            gate_of(kind="replay", replay=str(tmp_path))
        with pytest.raises(UsageError, match=r"gate\.replay"):
            gate_of(kind="replay")

    def test_ranked_fractions_follow_the_order_of_the_scores(self, tmp_path):
        folder = record(tmp_path, self.rows)
        gate = fixed_gate({"m0": unit(1, 0)}, (0.0, 1.0), calibration="ranked", replay=folder)
        angles = torch.tensor([0.3, 1.0, 0.1, 2.0, 0.7])
        gradients = FakeGradients(torch.stack([angles.cos(), angles.sin()], 1)[:, None, None])
        gated = gate(view_of(gradients, [1.0, 1.0, 0.0, 1.0, 1.0]))
        assert gated.fractions.flatten().tolist() == pytest.approx([0.9, 0.2, 0.0, 0.0, 0.5])

    def test_ranked_needs_a_replay_of_whole_rollouts(self, tmp_path):
        with pytest.raises(UsageError, match=r"gate\.kind=replay"):
            gate_of(kind="cosine", calibration="ranked")
        with pytest.raises(UsageError, match="granularity=rollout"):
            gate_of(make_policy(), kind="replay", calibration="ranked", granularity="token",
                    replay=record(tmp_path, self.rows))  # fmt: skip


class TestLiveCalibrations:
    direction = {"m0": unit(1, 0)}  # noqa: RUF012 - not changed

    def _view(self, scores: list[float], labels: list[bool], advantages: list[float] | None = None):
        angles = torch.tensor(scores).acos()
        gradients = FakeGradients(torch.stack([angles.cos(), angles.sin()], 1)[:, None, None])
        return view_of(
            gradients, advantages or [1.0] * len(scores),
            labels=[judged(detected=label) for label in labels],
        )  # fmt: skip

    def test_a_quantile_routes_a_share_of_the_active_rollouts(self):
        gate = fixed_gate(self.direction, (0.0, 1.0), calibration="quantile", constant=0.5)
        view = self._view([0.1, 0.9, 0.5, -0.5, 0.99], [False] * 5, [1, 1, 1, 1, 0])
        assert gate(view).fractions.flatten().tolist() == [0, 1, 1, 0, 0]

    def test_the_online_band_follows_detected_rollouts(self):
        gate = fixed_gate(self.direction, (0.9, 0.95), calibration="online")
        scores = [0.1] * ENOUGH + [0.5] * ENOUGH
        gated = gate(self._view(scores, [False] * ENOUGH + [True] * ENOUGH))
        assert (gated.log["lower"], gated.log["upper"]) == pytest.approx((0.1, 0.5))
        assert gated.fractions.flatten().tolist() == [0.0] * ENOUGH + [1.0] * ENOUGH

    def test_until_enough_is_seen_the_band_of_the_pairs_holds(self):
        gate = fixed_gate(self.direction, (0.9, 0.95), calibration="online")
        labels = [False] * ENOUGH + [True] * (ENOUGH - 1)
        gated = gate(self._view([0.1] * ENOUGH + [0.5] * (ENOUGH - 1), labels))
        assert gated.log["lower"] == pytest.approx(0.9)
        gated = gate(self._view([0.5], [True]))
        assert gated.log["lower"] == pytest.approx(0.1)

    def test_punished_rollouts_do_not_move_the_online_band(self):
        gate = fixed_gate(self.direction, (0.9, 0.95), calibration="online")
        labels = [False] * ENOUGH + [True] * ENOUGH
        gated = gate(self._view([0.1] * (2 * ENOUGH), labels, [-1.0] * (2 * ENOUGH)))
        assert gated.log["lower"] == pytest.approx(0.9)


class TestRefreshAndResume:
    def _steps(self, gate: Any, policy: Any, steps: range) -> list[torch.Tensor]:
        found = []
        for step in steps:
            with torch.no_grad():  # the policy moves on, so that each extraction differs
                generator = torch.Generator().manual_seed(step)
                for items in policy.adapters.parameters("deployed").values():
                    noise = torch.randn(items[0].shape, generator=generator)
                    items[0].copy_(0.1 * noise)
            gradients = captured(policy, make_pairs(4, seed=99), [1.0, -0.5] * 4)
            view = view_of(gradients, [1.0, -0.5] * 4, step=step,
                           labels=[judged(detected=row % 2 == 0) for row in range(8)])  # fmt: skip
            found.append(gate(view).fractions)
        return found

    @pytest.mark.parametrize(("refresh", "wanted"), [(2, [0, 2, 4]), (0, [0])])
    def test_the_direction_is_extracted_as_often_as_asked(self, monkeypatch, refresh, wanted):
        calls: list[int] = []
        real = directions.extract
        policy = make_policy()
        gate = gate_of(policy, kind="cosine", refresh=refresh)
        monkeypatch.setattr(
            "unhack.training.routing.gates.cosine.extract",
            lambda *parts, **named: calls.append(1) or real(*parts, **named),
        )
        seen = []
        for step in range(5):
            before = len(calls)
            self._steps(gate, policy, range(step, step + 1))
            seen += [step] * (len(calls) - before)
        assert seen == wanted

    @pytest.mark.parametrize("gate", [
        {"kind": "cosine", "refresh": 3}, {"kind": "cosine", "direction": "random", "refresh": 3},
        {"kind": "cosine", "scope": "module", "refresh": 0},
        {"kind": "cosine", "calibration": "online", "refresh": 3},
        {"kind": "cosine", "memory": 0.5, "refresh": 1},
        {"kind": "activation", "refresh": 3},
        {"kind": "cosine", "per_knob": True, "calibration": "left_out", "refresh": 3},
    ], ids=str)  # fmt: skip
    def test_a_resumed_gate_goes_on_bit_for_bit(self, gate):
        policy = make_policy()
        one = gate_of(policy, **gate)
        whole = self._steps(one, policy, range(5))
        two = gate_of(policy, **gate)
        self._steps(two, policy, range(2))
        three = gate_of(policy, **gate)
        three.load(two.state())
        assert all(
            torch.equal(left, right)
            for left, right in zip(self._steps(three, policy, range(2, 5)), whole[2:], strict=True)
        )

    def test_a_direction_with_a_memory_is_that_of_a_fading_sum(self, monkeypatch):
        found: list[Any] = []
        real = directions.extract
        policy = make_policy()
        gate = gate_of(policy, kind="cosine", refresh=2, memory=0.75)
        alone: list[Any] = []

        def extracted(*parts, former, **named):
            alone.append(real(*parts, **named))
            found.append(real(*parts, former=former, **named))
            return found[-1]

        monkeypatch.setattr("unhack.training.routing.gates.cosine.extract", extracted)
        self._steps(gate, policy, range(5))
        assert len(found) == 3
        for name, last in gate.state()["direction"].items():
            newest, middle, oldest = (alone[step].direction[name] for step in (2, 1, 0))
            total = newest + 0.75 * middle + 0.75**2 * oldest
            assert torch.allclose(last, total / total.norm(), atol=1e-6)
            assert not torch.allclose(last, newest, atol=1e-2)
        assert gate.state()["accuracy"] == alone[-1].accuracy

    def test_a_random_direction_has_nothing_to_remember(self):
        fractions = [
            self._steps(gate_of(policy, kind="cosine", direction="random", memory=memory), policy,
                        range(3))
            for memory, policy in ((0.0, make_policy()), (0.9, make_policy()))
        ]  # fmt: skip
        assert all(map(torch.equal, *fractions))

    @pytest.mark.parametrize("gate", [
        {"kind": "activation", "memory": 0.5},
        {"kind": "cosine", "calibration": "left_out", "memory": 0.5},
    ], ids=str)  # fmt: skip
    def test_a_memory_that_would_be_ignored_is_refused(self, gate):
        with pytest.raises(UsageError, match=r"gate\.memory=0"):
            gate_of(make_policy(), **gate)

    def test_a_random_direction_stays_while_its_band_is_rebuilt(self):
        policy = make_policy()
        gate = gate_of(policy, kind="cosine", direction="random", refresh=1)
        self._steps(gate, policy, range(1))
        first = gate.state()
        self._steps(gate, policy, range(1, 2))
        second = gate.state()
        assert all(torch.equal(first["direction"][name], second["direction"][name])
                   for name in first["direction"])  # fmt: skip
        assert not torch.equal(first["decision"]["lower"], second["decision"]["lower"])


class TestMakeGate:
    def test_pairs_are_those_of_the_settings_and_differ_between_runs(self):
        world = FakeWorld()
        for seed in (1, 2):
            settings = settings_of(kind="cosine").model_copy(update={"run": RunSettings(seed=seed)})
            make_gate(settings, make_policy(), world)  # pyright: ignore[reportArgumentType]
        assert [item[:2] for item in world.asked] == [("real", 16)] * 2
        assert world.asked[0][2] != world.asked[1][2]

    def test_a_redrawn_direction_is_another_at_each_refresh(self):
        policy, pairs = make_policy(), make_pairs(4)
        gate = gate_of(policy, kind="cosine", direction="redrawn", refresh=2)
        advantages = [1.0, -1.0] * 4
        seen = []
        for step in range(3):
            gate(view_of(captured(policy, pairs, advantages), advantages, step=step))
            seen.append(dict(gate.state()["direction"]))
        assert all(torch.equal(seen[0][name], seen[1][name]) for name in seen[0])
        assert not any(torch.allclose(seen[0][name], seen[2][name]) for name in seen[0])

    def test_random_directions_differ_between_runs(self):
        found = []
        for seed in (1, 2):
            settings = settings_of(kind="cosine", direction="random")
            settings = settings.model_copy(update={"run": RunSettings(seed=seed)})
            gate: Any = make_gate(settings, make_policy(), FakeWorld())  # pyright: ignore[reportArgumentType]
            found.append(next(iter(gate.state()["direction"].values())))
        assert not torch.equal(*found)

    @pytest.mark.parametrize("wrong", [{"granularity": "token"}, {"direction": "random"}], ids=str)
    def test_the_activation_gate_says_what_it_does_not_offer(self, wrong):
        with pytest.raises(UsageError, match="activation gate"):
            gate_of(make_policy(), kind="activation", **wrong)

    @pytest.mark.parametrize("scope", ["global", "module"])
    def test_the_activation_gate_routes_hacks_of_either_sign(self, scope):
        policy, pairs = make_policy(), make_pairs(12)
        world = FakeWorld()
        world.pairs = lambda *_, **__: pairs  # pyright: ignore[reportAttributeAccessIssue]
        gate = make_gate(settings_of(kind="activation", scope=scope), policy, world)  # pyright: ignore[reportArgumentType]
        gated = gate(view_of(captured(policy, pairs, [1.0, -1.0] * 12), [-1.0, 1.0] * 12))
        fractions = per_rollout(gated.fractions, captured(policy, pairs, [1.0] * 24))
        assert fractions[0::2].mean() > 2 * fractions[1::2].mean()
