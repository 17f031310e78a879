"""The oracle gate: an upper bound, not a method. It routes what the strict oracle calls a hack."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from unhack.training.routing.gate import Gated, GateView


class OracleGate:
    """f = 1 for active rollouts that were paid although wrong, else 0."""

    def __call__(self, view: GateView, /) -> Gated:
        hacked_B = torch.tensor(
            [bool(item.hacked) for item in view.judged], device=view.advantages_B.device
        )
        return Gated((hacked_B & (view.advantages_B != 0)).float().view(-1, 1, 1))

    def state(self) -> dict[str, object]:
        """Nothing."""
        return {}

    def load(self, state: Mapping[str, object]) -> None:
        """Nothing to restore."""
