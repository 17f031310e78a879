"""The detector gate: it routes what a weak detector of the known modes has labelled.

Recall and false-positive rate are the detector's (`WorldSettings.detector_recall`,
`detector_false_positives`); held-out modes are never labelled but by chance.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch

from unhack.training.routing.gate import Gated, GateView


class DetectorGate:
    """f = 1 for active rollouts with the detector's label, else 0."""

    def __call__(self, view: GateView, /) -> Gated:
        detected_B = torch.tensor(
            [bool(item.detected) for item in view.judged], device=view.advantages_B.device
        )
        return Gated((detected_B & (view.advantages_B != 0)).float().view(-1, 1, 1))

    def state(self) -> dict[str, object]:
        """Nothing."""
        return {}

    def load(self, state: Mapping[str, object]) -> None:
        """Nothing to restore."""
