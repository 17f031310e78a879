"""One fraction for all active rollouts: pure shrinkage, or no routing at all."""

from __future__ import annotations

from collections.abc import Mapping

from unhack.training.routing.gate import Gated, GateView


class ConstantGate:
    """f is the same for every active rollout; with 0 the quarantine never trains (`none`)."""

    def __init__(self, fraction: float) -> None:
        self._fraction = fraction

    def __call__(self, view: GateView, /) -> Gated:
        active_B = (view.advantages_B != 0).float()
        return Gated((self._fraction * active_B).view(-1, 1, 1))

    def state(self) -> dict[str, object]:
        """Nothing."""
        return {}

    def load(self, state: Mapping[str, object]) -> None:
        """Nothing to restore."""
