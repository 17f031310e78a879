"""No routing: the quarantine never trains."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from unhack.training.routing.gate import Gated, GateView


class ClosedGate:
    """f = 0 for every rollout."""

    def __call__(self, view: GateView, /) -> Gated:
        return Gated(torch.zeros_like(view.advantages_B, dtype=torch.float32).view(-1, 1, 1))

    def state(self) -> dict[str, object]:
        """Nothing."""
        return {}

    def load(self, state: Mapping[str, object]) -> None:
        """Nothing to restore."""
