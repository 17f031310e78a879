from __future__ import annotations

import json
from typing import Any

import pytest
import torch
from tests.unit.training.fakes_routing import (
    PAD,
    FakeWorld,
    captured,
    make_pairs,
    make_policy,
    view_of,
)

from unhack.core.errors import UsageError
from unhack.training.config.settings import GateSettings, Settings
from unhack.training.routing.directions import extract
from unhack.training.routing.gate import Gated, GateView
from unhack.training.routing.gates.knobs import KnobGate
from unhack.training.routing.gates.registry import make_gate
from unhack.training.routing.split import route


def stirred(policy: Any) -> Any:
    """A policy whose two blocks have learnt different things."""
    generator = torch.Generator().manual_seed(5)
    for block in ("deployed", "quarantine"):
        for items in policy.adapters.parameters(block).values():
            for item in items:
                with torch.no_grad():
                    item.add_(0.2 * torch.randn(item.shape, generator=generator))
    return policy


class Says:
    """A gate with one answer, that remembers what it was shown."""

    def __init__(self, value: float) -> None:
        self.value, self.seen = value, torch.empty(0)

    def __call__(self, view: GateView, /) -> Gated:
        self.seen = view.advantages_B
        count = len(view.advantages_B)
        scores = torch.full((count,), self.value)
        return Gated(torch.full((count, 1, 1), self.value), scores_B=scores, log={"lower": 1.0})

    def state(self) -> dict[str, object]:
        return {"value": self.value}

    def load(self, state: Any) -> None:
        self.value = state["value"]


class TestTwoStates:
    def test_each_rollout_gets_the_answer_of_its_own_state(self):
        on, off = Says(1.0), Says(0.25)
        view = view_of(None, [1.0, -1.0, 2.0], on=[True, False, True])
        found = KnobGate(on=on, off=off)(view)
        assert found.fractions.flatten().tolist() == [1.0, 0.25, 1.0]
        assert found.scores_B is not None
        assert found.scores_B.tolist() == [1.0, 0.25, 1.0]
        assert set(found.log) == {"lower", "on_lower"}

    def test_a_gate_sees_no_signal_of_the_other_state(self):
        on, off = Says(1.0), Says(0.25)
        KnobGate(on=on, off=off)(view_of(None, [1.0, -1.0, 2.0], on=[True, False, True]))
        assert on.seen.tolist() == [1.0, 0.0, 2.0]
        assert off.seen.tolist() == [0.0, -1.0, 0.0]

    def test_a_share_is_taken_in_each_state(self):
        policy, pairs = make_policy(), make_pairs(8)
        advantages = [1.0] * 16
        settings = Settings(gate=GateSettings(
            kind="cosine", per_knob=True, calibration="quantile", constant=0.25
        ))  # fmt: skip
        gate = make_gate(settings, policy, FakeWorld())  # pyright: ignore[reportArgumentType]
        view = view_of(captured(policy, pairs, advantages), advantages, on=[True] * 8 + [False] * 8)
        routed = gate(view).fractions.flatten()
        assert (routed[:8].sum().item(), routed[8:].sum().item()) == (2.0, 2.0)

    def test_a_random_direction_is_another_in_each_state(self):
        policy, pairs, advantages = make_policy(), make_pairs(8), [1.0] * 16
        settings = Settings(gate=GateSettings(kind="cosine", direction="random", per_knob=True))
        gate = make_gate(settings, policy, FakeWorld())  # pyright: ignore[reportArgumentType]
        gate(view_of(captured(policy, pairs, advantages), advantages))
        state: Any = gate.state()
        on, off = (state[name]["direction"] for name in ("on", "off"))
        assert set(on) == set(off)
        assert not any(torch.allclose(on[name], off[name]) for name in on)

    @pytest.mark.parametrize("calibration", ["ranked", "quantile"])
    def test_each_state_is_dealt_its_own_part_of_a_record(self, tmp_path, calibration):
        policy, pairs = make_policy(), make_pairs(8)
        advantages, on = [1.0, -1.0] * 8, [True] * 6 + [False] * 10
        view = view_of(captured(policy, pairs, advantages), advantages, on=on)
        fractions = torch.tensor([1.0, 0.25] * 3 + [0.0, 0.5] * 5).view(-1, 1, 1)
        routing = route(view.gradients, Gated(fractions), policy.adapters, view=view)
        (tmp_path / "gate.jsonl").write_text(json.dumps(routing.record(0)) + "\n")
        settings = Settings(gate=GateSettings(
            kind="replay", per_knob=True, calibration=calibration, replay=str(tmp_path)
        ))  # fmt: skip
        gate = make_gate(settings, make_policy(), FakeWorld())  # pyright: ignore[reportArgumentType]
        dealt = gate(view).fractions.flatten()
        assert sorted(dealt[:6].tolist()) == [0.25] * 3 + [1.0] * 3
        assert sorted(dealt[6:].tolist()) == [0.0] * 5 + [0.5] * 5

    def test_a_record_without_knob_states_is_not_dealt_out_by_state(self, tmp_path):
        line = {"step": 0, "mass": 1.0, "active": 1, "fractions": [1.0], "split": {}}
        (tmp_path / "gate.jsonl").write_text(json.dumps(line) + "\n")
        settings = Settings(gate=GateSettings(kind="replay", per_knob=True, replay=str(tmp_path)))
        with pytest.raises(UsageError, match="run the arm that is replayed anew"):
            make_gate(settings, make_policy(), FakeWorld())  # pyright: ignore[reportArgumentType]


class TestDirections:
    def test_the_knob_state_changes_the_direction(self):
        policy, pairs = stirred(make_policy()), make_pairs(8)
        off = extract(policy, pairs, pad=PAD)
        on = extract(policy, pairs, pad=PAD, quarantine=True)
        assert any(
            not torch.allclose(off.direction[name], on.direction[name], atol=1e-3)
            for name in off.direction
        )

    def test_without_a_quarantine_that_learnt_both_states_agree(self):
        policy, pairs = make_policy(), make_pairs(8)
        off, on = (extract(policy, pairs, pad=PAD, quarantine=state) for state in (False, True))
        assert off.direction
        for name in off.direction:
            assert torch.allclose(off.direction[name], on.direction[name], atol=1e-6)
