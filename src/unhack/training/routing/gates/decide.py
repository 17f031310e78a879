"""From scores to fractions, by the calibration of the settings. Shared by the gates with a score.

- `p75`, `floored`, `mean`, `extremes`, `left_out`: the band of the pairs' scores.
- `online`: the band of live scores, at the 75th percentiles of detected and of other rollouts with
  positive advantage, over the last `HISTORY`. Until both classes have `ENOUGH`, the pairs' p75.
- `quantile`: f = 1 for the top share (`gate.constant`) of the step's live scores.
- `ranked`: the fractions of the same step of a recorded run, the largest to the largest score.

Axes: B rollouts, T positions, P pairs, K bands (one, or one per module), H history.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import cast

import torch
from torch import Tensor

from unhack.core.errors import UsageError
from unhack.training.config.settings import GateSettings
from unhack.training.routing.gate import GateView
from unhack.training.routing.gates.band import Band, calibrate, top_share
from unhack.training.routing.gates.mass import portions
from unhack.training.routing.split import RecordedStep, read_gate_log, recorded_step

HISTORY = 4096
"""Live scores that the online band remembers."""
ENOUGH = 16
"""Live scores of each class that the online band needs."""


class Decision:
    """Turns scores into fractions and keeps what that needs between steps.

    Raises UsageError where a calibration does not go with the scope or the granularity, or where
    the run to be replayed has no record.
    """

    def __init__(
        self, settings: GateSettings, *, least: float = 0.0, knob: bool | None = None
    ) -> None:
        """`knob`: the state whose part of a recorded mass is dealt out; None is all of it."""
        self._settings = settings
        self._least = -math.inf if settings.calibration == "left_out" else least
        self._band: Band | None = None
        self._scores_H_K: Tensor | None = None
        self._detected_H: Tensor | None = None
        self._recorded: dict[int, RecordedStep] = {}
        if settings.calibration == "ranked":
            if settings.scope == "module" or settings.granularity == "token":
                raise UsageError(
                    "gate.calibration=ranked deals one fraction to a rollout: "
                    "set gate.scope=global and gate.granularity=rollout"
                )
            self._recorded = read_gate_log(Path(settings.replay), knob=knob)

    def calibrate(self, hack_P_K: Tensor, clean_P_K: Tensor) -> None:
        """Take the band of the scores of pairs; calibrations without a band log it only."""
        chosen = self._settings.calibration
        edges = chosen if chosen in ("floored", "mean", "extremes", "left_out") else "p75"
        self._band = calibrate(hack_P_K.float(), clean_P_K.float(), edges=edges, least=self._least)

    def fractions(
        self, scores: Tensor, present: Tensor, *, rollout_scores_B_K: Tensor, view: GateView
    ) -> tuple[Tensor, dict[str, float]]:
        """f in the shape of `scores` ([B, 1 or T, K]), 0 where not `present` (bool, same shape),
        and what to log."""
        if self._band is None:
            raise UsageError("a band gate was asked before it was calibrated")
        band, log = self._band, dict[str, float]()
        if self._settings.calibration == "quantile":
            chosen = top_share(scores, present, share=self._settings.constant)
            return chosen * present, band.log()
        if self._settings.calibration == "ranked":
            chosen, log = self._dealt(scores, present, view)
            return chosen, {**band.log(), **log}
        if self._settings.calibration == "online":
            band = self._follow(rollout_scores_B_K, view, band)
        return band.fractions(scores) * present, band.log()

    def state(self) -> dict[str, object]:
        """Band edges and the online history."""
        if self._band is None:
            return {}
        state: dict[str, object] = {"lower": self._band.lower_K, "upper": self._band.upper_K}
        if self._scores_H_K is not None and self._detected_H is not None:
            state |= {"scores": self._scores_H_K, "detected": self._detected_H}
        return state

    def load(self, state: Mapping[str, object], *, device: torch.device) -> None:
        """Go on from `state` bit for bit."""
        if "lower" not in state:
            return
        tensors = {name: cast(Tensor, value).to(device) for name, value in state.items()}
        self._band = Band(tensors["lower"], tensors["upper"], self._least)
        self._scores_H_K = tensors.get("scores")
        self._detected_H = tensors.get("detected")

    def _dealt(
        self, scores: Tensor, present: Tensor, view: GateView
    ) -> tuple[Tensor, dict[str, float]]:
        folder = self._settings.replay
        recorded = recorded_step(self._recorded, view.step, folder=folder)
        scores_B, active_B = scores.flatten(), present.flatten()
        dealt = portions(recorded, count=int(active_B.sum().item()))
        order_B = scores_B.masked_fill(~active_B, -torch.inf).argsort(descending=True, stable=True)
        fractions_B = torch.zeros_like(scores_B)
        values = torch.tensor(dealt.fractions, dtype=scores_B.dtype, device=scores_B.device)
        fractions_B[order_B[: values.numel()]] = values
        return fractions_B.view(scores.shape), dealt.log(recorded)

    def _follow(self, scores_B_K: Tensor, view: GateView, band: Band) -> Band:
        rewarded_B = view.advantages_B > 0
        labels = [item.detected for item in view.judged]
        detected_B = torch.tensor(labels, device=scores_B_K.device)
        scores_H_K, detected_H = scores_B_K[rewarded_B], detected_B[rewarded_B]
        if self._scores_H_K is not None and self._detected_H is not None:
            scores_H_K = torch.cat([self._scores_H_K, scores_H_K])[-HISTORY:]
            detected_H = torch.cat([self._detected_H, detected_H])[-HISTORY:]
        self._scores_H_K, self._detected_H = scores_H_K.clone(), detected_H.clone()
        if min(int(detected_H.sum().item()), int((~detected_H).sum().item())) < ENOUGH:
            return band
        return calibrate(
            scores_H_K[detected_H], scores_H_K[~detected_H], edges="p75", least=self._least
        )
