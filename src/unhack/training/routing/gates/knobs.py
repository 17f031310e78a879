"""A gate for each knob state: what a hack's gradient looks like differs between them.

Covered: each rollout is scored by the gate of its own state; shares, bands and a recorded mass are
of that state's rollouts alone.

Axes: B rollouts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import cast

import torch

from unhack.training.routing.gate import Gate, Gated, GateView


class KnobGate:
    """Asks `on` about rollouts with the quarantine on, `off` about the others."""

    def __init__(self, *, on: Gate, off: Gate) -> None:
        self._gates = {"on": on, "off": off}

    def __call__(self, view: GateView, /) -> Gated:
        on = self._gates["on"](_of(view, quarantine=True))
        off = self._gates["off"](_of(view, quarantine=False))
        on_B = view.quarantine_B
        scores_B = None
        if on.scores_B is not None and off.scores_B is not None:
            scores_B = torch.where(on_B, on.scores_B, off.scores_B)
        log = {**off.log, **{f"on_{name}": value for name, value in on.log.items()}}
        return Gated(
            torch.where(on_B[:, None, None], on.fractions, off.fractions),
            scores_B=scores_B,
            log=log,
            direction=off.direction,
        )

    def state(self) -> dict[str, object]:
        """State of both gates."""
        return {name: gate.state() for name, gate in self._gates.items()}

    def load(self, state: Mapping[str, object]) -> None:
        """Go on from `state` bit for bit."""
        for name, gate in self._gates.items():
            gate.load(cast(Mapping[str, object], state[name]))


def _of(view: GateView, *, quarantine: bool) -> GateView:
    """The view in which rollouts of the other state have no signal."""
    mine_B = view.quarantine_B == quarantine
    return replace(view, advantages_B=view.advantages_B * mine_B)
