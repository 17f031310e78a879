from __future__ import annotations

import json

import torch
from tests.unit.training.fakes_routing import FakeWorld, captured, make_pairs, make_policy, view_of

from unhack.training.config.settings import GateSettings, Settings
from unhack.training.routing.gate import Gated, GateView
from unhack.training.routing.gates.registry import make_gate
from unhack.training.routing.gates.rewarded import RewardedGate

ADVANTAGES = [1.0, -1.0, 2.0, 0.0]


class Half:
    """A gate that halves everything, and remembers what it was shown."""

    def __init__(self) -> None:
        self.seen = torch.empty(0)
        self.loaded: object = None

    def __call__(self, view: GateView, /) -> Gated:
        self.seen = view.advantages_B
        half = torch.full((len(view.advantages_B), 1, 1), 0.5)
        return Gated(half, log={"lower": 1.0})

    def state(self) -> dict[str, object]:
        return {"half": 0.5}

    def load(self, state: object) -> None:
        self.loaded = state


def test_what_was_not_rewarded_is_kept_whole_and_not_seen() -> None:
    inner = Half()
    found = RewardedGate(inner)(view_of(None, ADVANTAGES))
    assert inner.seen.tolist() == [1.0, 0.0, 2.0, 0.0]
    assert found.fractions.flatten().tolist() == [0.5, 0.0, 0.5, 0.0]
    assert found.log == {"lower": 1.0}


def test_its_state_is_that_of_the_gate() -> None:
    inner = Half()
    gate = RewardedGate(inner)
    gate.load(gate.state())
    assert inner.loaded == {"half": 0.5}


def test_a_share_is_taken_of_rewarded_rollouts() -> None:
    policy, pairs = make_policy(), make_pairs(8)
    advantages = [1.0] * 8 + [-1.0] * 8
    settings = Settings(gate=GateSettings(
        kind="cosine", rewarded=True, calibration="quantile", constant=0.25
    ))  # fmt: skip
    gate = make_gate(settings, policy, FakeWorld())  # pyright: ignore[reportArgumentType]
    routed = gate(view_of(captured(policy, pairs, advantages), advantages)).fractions.flatten()
    assert (routed[:8].sum().item(), routed[8:].sum().item()) == (2.0, 0.0)


def test_a_record_is_dealt_to_rewarded_rollouts(tmp_path) -> None:
    row = {
        "step": 0,
        "mass": 2.0,
        "active": 4,
        "kept_share": 0.5,
        "fractions": [1.0, 0.0, 1.0, 0.0],
    }
    (tmp_path / "gate.jsonl").write_text(json.dumps(row) + "\n")
    settings = Settings(gate=GateSettings(kind="replay", rewarded=True, replay=str(tmp_path)))
    gate = make_gate(settings, make_policy(), FakeWorld())  # pyright: ignore[reportArgumentType]
    routed = gate(view_of(None, [1.0, 1.0, 1.0, -1.0, -1.0])).fractions.flatten()
    assert (routed[:3].sum().item(), routed[3:].sum().item()) == (2.0, 0.0)
