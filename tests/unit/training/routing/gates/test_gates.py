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
from unhack.training.routing.gates.cosine import CosineGate
from unhack.training.routing.gates.decide import top_share
from unhack.training.routing.gates.mass import mix_seed, portions
from unhack.training.routing.gates.registry import make_gate
from unhack.training.routing.split import RecordedStep


def settings_of(**gate: Any) -> Settings:
    return Settings(gate=GateSettings(**gate))


def gate_of(policy: Any = None, **gate: Any) -> Any:
    return make_gate(settings_of(**gate), policy, FakeWorld())  # pyright: ignore[reportArgumentType]


def fixed_gate(direction: dict[str, torch.Tensor], **gate: Any) -> Any:
    """A cosine gate with a given direction, over fake gradients."""
    made = CosineGate(
        GateSettings(kind="cosine", refresh=0, **gate), policy=make_policy(), pairs=[], pad=PAD,
        seed=0,
    )  # fmt: skip
    made.load({"direction": direction, "extracted": 0, "accuracy": 1.0})
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


class TestShares:
    def test_the_top_share_is_exact_even_with_equal_scores(self):
        scores, present = torch.zeros(10), torch.ones(10, dtype=torch.bool)
        present[:2] = False
        found = top_share(scores, present, share=0.25)
        assert found.sum() == 2
        assert found[:2].sum() == 0
        for count in (50, 90, 100):
            many = torch.arange(float(count))
            shared = top_share(many, torch.ones_like(many, dtype=torch.bool), share=0.3)
            assert shared.sum() == count * 3 // 10
        assert top_share(scores, present, share=0.0).sum() == 0
        assert top_share(scores, present, share=1.0).sum() == 8


class TestCosineScores:
    direction = {"m0": unit(1, 0), "m1": unit(0, 1)}  # noqa: RUF012 - not changed
    gradients = FakeGradients(torch.tensor([
        [[[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, 1.0]]],
        [[[2.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [2.0, 0.0]]],
        [[[0.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]]],
    ]))  # fmt: skip

    def test_tokens_are_routed_one_by_one(self):
        gate = fixed_gate(self.direction, constant=0.5, granularity="token")
        gated = gate(view_of(self.gradients, [1, 1, 1]))
        # Cosines by position: 1 and 1, 1/sqrt(2) and 0; two of the four that have a gradient.
        assert gated.fractions[..., 0].tolist() == [[1.0, 1.0], [0.0, 0.0], [0.0, 0.0]]
        whole = fixed_gate(self.direction, constant=0.5)(view_of(self.gradients, [1, 1, 1]))
        assert gated.scores_B is not None
        assert whole.scores_B is not None
        assert torch.equal(gated.scores_B, whole.scores_B)

    def test_a_record_of_rollouts_is_not_dealt_to_tokens(self, tmp_path):
        folder = record(tmp_path, [[1.0, 0.0]])
        with pytest.raises(UsageError, match=r"set gate\.granularity=rollout"):
            fixed_gate(self.direction, granularity="token", calibration="ranked", replay=folder)
        with pytest.raises(UsageError, match=r"gate\.kind=oracle decides on rollouts"):
            gate_of(kind="oracle", granularity="token")

    def test_the_global_score_is_one_cosine_over_all_modules(self):
        gated = fixed_gate(self.direction, constant=0.5)(view_of(self.gradients, [1, 1, 1]))
        assert gated.scores_B.tolist() == pytest.approx([1.0, 0.5, 0.0])
        assert gated.fractions.flatten().tolist() == [1.0, 0.0, 0.0]  # the last has no gradient

    def test_a_rollout_without_advantage_is_not_routed(self):
        gated = fixed_gate(self.direction, constant=1.0)(view_of(self.gradients, [0, 1, 0]))
        assert gated.fractions.flatten().tolist() == [0.0, 1.0, 0.0]

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

    def test_a_cosine_gate_is_blind_to_all_labels(self):
        gate = fixed_gate({f"m{index}": unit(1, 2, 3, 4) for index in range(3)})
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


class TestSimpleGates:
    view = view_of(FakeGradients(torch.ones(4, 1, 1, 2)), [1.0, 0.0, -1.0, 2.0])

    def test_without_a_gate_nothing_is_routed(self):
        assert gate_of(kind="none")(self.view).fractions.sum() == 0


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
        assert self.rows
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
        settings = settings_of(kind="replay", replay=record(tmp_path, self.rows))
        settings = settings.model_copy(update={"run": RunSettings(seed=3)})
        other: Any = make_gate(settings, None, FakeWorld())  # pyright: ignore[reportArgumentType]
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
        gate = fixed_gate({"m0": unit(1, 0)}, calibration="ranked", replay=folder)
        angles = torch.tensor([0.3, 1.0, 0.1, 2.0, 0.7])
        gradients = FakeGradients(torch.stack([angles.cos(), angles.sin()], 1)[:, None, None])
        gated = gate(view_of(gradients, [1.0, 1.0, 0.0, 1.0, 1.0]))
        assert gated.fractions.flatten().tolist() == pytest.approx([0.9, 0.2, 0.0, 0.0, 0.5])


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
        gate = fixed_gate(self.direction, constant=0.5)
        view = self._view([0.1, 0.9, 0.5, -0.5, 0.99], [False] * 5, [1, 1, 1, 1, 0])
        assert gate(view).fractions.flatten().tolist() == [0, 1, 1, 0, 0]


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
        {"kind": "cosine", "direction": "redrawn", "refresh": 2},
        {"kind": "cosine", "per_knob": True, "rewarded": True, "refresh": 3},
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


class TestMakeGate:
    def test_ranked_needs_a_record(self):
        with pytest.raises(UsageError, match=r"gate\.kind=replay"):
            gate_of(kind="cosine", calibration="ranked")

    def test_a_random_direction_stays(self):
        policy, pairs, advantages = make_policy(), make_pairs(4), [1.0, -1.0] * 4
        gate = gate_of(policy, kind="cosine", direction="random", refresh=1)
        seen = []
        for step in range(2):
            gate(view_of(captured(policy, pairs, advantages), advantages, step=step))
            seen.append(dict(gate.state()["direction"]))
        assert all(torch.equal(seen[0][name], seen[1][name]) for name in seen[0])

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
