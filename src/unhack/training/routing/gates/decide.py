"""From scores to fractions, by the calibration of the settings.

- `quantile`: f = 1 for the top share (`gate.constant`) of the step's live scores.
- `ranked`: the fractions of the same step of a recorded run, the largest to the largest score.

Axes: B what is scored: rollouts, or the positions of all rollouts (`quantile` alone).
"""

from __future__ import annotations

import math
from pathlib import Path

import torch
from torch import Tensor

from unhack.core.errors import UsageError
from unhack.training.config.settings import GateSettings
from unhack.training.routing.gate import GateView
from unhack.training.routing.gates.mass import portions
from unhack.training.routing.split import RecordedStep, read_gate_log, recorded_step


class Decision:
    """Turns scores into fractions. Raises UsageError where the run to be replayed has no record,
    and where a record, which is of rollouts, is to be dealt to tokens."""

    def __init__(self, settings: GateSettings, *, knob: bool | None = None) -> None:
        """`knob`: the state whose part of a recorded mass is dealt out; None is all of it."""
        self._settings = settings
        self._recorded: dict[int, RecordedStep] = {}
        if settings.calibration == "ranked":
            if settings.granularity == "token":
                raise UsageError(
                    "gate.calibration=ranked deals one fraction to a rollout: "
                    "set gate.granularity=rollout, or gate.calibration=quantile"
                )
            self._recorded = read_gate_log(Path(settings.replay), knob=knob)

    def fractions(
        self, scores_B: Tensor, present_B: Tensor, view: GateView
    ) -> tuple[Tensor, dict[str, float]]:
        """f [B], 0 where not `present_B` (bool), and what to log."""
        if self._settings.calibration == "quantile":
            return top_share(scores_B, present_B, share=self._settings.constant), {}
        recorded = recorded_step(self._recorded, view.step, folder=self._settings.replay)
        dealt = portions(recorded, count=int(present_B.sum().item()))
        order_B = scores_B.masked_fill(~present_B, -torch.inf).argsort(descending=True, stable=True)
        fractions_B = torch.zeros_like(scores_B)
        values = torch.tensor(dealt.fractions, dtype=scores_B.dtype, device=scores_B.device)
        fractions_B[order_B[: values.numel()]] = values
        return fractions_B, dealt.log(recorded)


def top_share(scores_B: Tensor, present_B: Tensor, *, share: float) -> Tensor:
    """f = 1 for the largest `share` (rounded up) of present scores, else 0: float32 [B].

    Equal scores are taken in their order, so the count is exact.
    """
    count = math.ceil(int(present_B.sum().item()) * share - 1e-9)
    order_B = scores_B.masked_fill(~present_B, -math.inf).argsort(descending=True, stable=True)
    fractions_B = torch.zeros_like(scores_B, dtype=torch.float32)
    fractions_B[order_B[:count]] = 1.0
    return fractions_B * present_B
