"""A gate that may route rewarded rollouts only: those with a positive advantage.

A hack is reinforced where it earns a reward. A punished clean rollout has a gradient that points
along the hack direction too (away from clean), takes a place in every share of the scores, and
teaches the deployed block nothing about hacks.

Covered: any gate; it sees no signal in the others, which are kept whole.
Not covered: hacks that earn less than the mean of their group.

Axes: B rollouts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from unhack.training.routing.gate import Gate, Gated, GateView


class RewardedGate:
    """Asks `gate` about rollouts with positive advantage; f = 0 for the rest."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate

    def __call__(self, view: GateView, /) -> Gated:
        rewarded_B = view.advantages_B > 0
        found = self._gate(replace(view, advantages_B=view.advantages_B * rewarded_B))
        return replace(found, fractions=found.fractions * rewarded_B[:, None, None])

    def state(self) -> dict[str, object]:
        """State of the gate."""
        return self._gate.state()

    def load(self, state: Mapping[str, object]) -> None:
        """Go on from `state` bit for bit."""
        self._gate.load(state)
