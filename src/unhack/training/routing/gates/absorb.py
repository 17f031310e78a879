"""No gate: both blocks train on everything.

The deployed block and the quarantine each get the whole gradient (f = 1 and a kept share of 1), so
here the two sums do not add up to one gradient. Whatever separates deployed from as-trained is
then the work of the blocks' shape and start alone. With own moments in Adam and blocks that share
their basis this is a constant gate at one half, up to clipping: Adam does not see the scale.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch

from unhack.training.routing.gate import Gated, GateView


class AbsorbGate:
    """Everything to both blocks."""

    def __call__(self, view: GateView, /) -> Gated:
        active = (view.advantages_B != 0).float().view(-1, 1, 1)
        return Gated(active, kept=torch.ones_like(active))

    def state(self) -> dict[str, object]:
        """Nothing."""
        return {}

    def load(self, state: Mapping[str, object]) -> None:
        """Nothing to restore."""
