"""Gates by labels: what a weak detector or the strict oracle calls a hack, or nothing at all.

`detector` routes what a weak detector of the known modes has labelled; its recall and its
false-positive rate are settings of the world, and held-out modes are labelled by chance alone.
`oracle` is an upper bound, not a method.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch

from unhack.training.routing.gate import Gated, GateView
from unhack.training.worlds.world import Judged

LABELS: Mapping[str, Callable[[Judged], bool | None]] = {
    "none": lambda item: False,
    "detector": lambda item: item.detected,
    "oracle": lambda item: item.hacked,
}
"""Kind of gate -> the label that it reads."""


class LabelGate:
    """f = 1 for active rollouts with the label of a kind, else 0."""

    def __init__(self, kind: str) -> None:
        self._label = LABELS[kind]

    def __call__(self, view: GateView, /) -> Gated:
        labels = [bool(self._label(item)) for item in view.judged]
        labels_B = torch.tensor(labels, device=view.advantages_B.device)
        return Gated((labels_B & (view.advantages_B != 0)).float().view(-1, 1, 1))

    def state(self) -> dict[str, object]:
        """Nothing."""
        return {}

    def load(self, state: Mapping[str, object]) -> None:
        """Nothing to restore."""
