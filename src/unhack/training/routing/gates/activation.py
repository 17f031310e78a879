"""The activation gate: how far a rollout's activations point along what hacks activate.

The score of a module is the inner product of the rollout's mean bottleneck activation with
unit(mean over pairs of (a_hack - a_clean)); scope `global` adds the modules up. Unlike the cosine
of a gradient it does not know the advantage: a hack is routed whether it is rewarded or punished.

Axes: B rollouts, M modules, K bands.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import cast

from torch import Tensor

from unhack.core.errors import UsageError
from unhack.training.config.settings import GateSettings
from unhack.training.routing.directions import AdaptedPolicy, extract_activations
from unhack.training.routing.gate import Direction, Gated, GateView
from unhack.training.routing.gates.decide import Decision
from unhack.training.routing.gates.percentiles import live_percentiles
from unhack.training.worlds.world import Pair


class ActivationGate:
    """Scores by pooled activations; extracted like the cosine gate's direction.

    Raises UsageError for tokens, random directions, directions per knob state or of several
    extractions, and bands of left-out modes, which it does not offer.
    """

    def __init__(
        self, settings: GateSettings, *, policy: AdaptedPolicy, pairs: Sequence[Pair], pad: int
    ) -> None:
        if settings.calibration in ("floored", "left_out"):
            raise UsageError(
                f"gate.calibration={settings.calibration} is for cosines: activations have no zero "
                "to floor a band at, and one direction of all modes"
            )
        if settings.per_knob:
            raise UsageError("activations have one direction for both states: gate.per_knob=false")
        if settings.memory:
            raise UsageError("activations follow the newest direction alone: set gate.memory=0")
        if settings.granularity == "token" or settings.direction == "random":
            raise UsageError(
                "the activation gate scores whole rollouts by a direction of pairs: "
                "set gate.granularity=rollout and gate.direction=pairs"
            )
        self._settings = settings
        self._policy = policy
        self._pairs = tuple(pairs)
        self._pad = pad
        self._decision = Decision(settings, least=-math.inf)
        self._direction: Direction = {}
        self._extracted = -1
        self._accuracy = 0.0

    def __call__(self, view: GateView, /) -> Gated:
        self._refresh(view.step)
        scores_B_M = view.gradients.pooled_B_M(self._direction)
        scores_B = scores_B_M.sum(1)
        scores_B_K = self._apply_scope(scores_B_M)
        active_B = view.advantages_B != 0
        scores_B_1_K = scores_B_K[:, None]
        fractions, log = self._decision.fractions(
            scores_B_1_K,
            active_B[:, None, None].expand_as(scores_B_1_K),
            rollout_scores_B_K=scores_B_K,
            view=view,
        )
        log |= {"pair_accuracy": self._accuracy, "extracted": float(self._extracted)}
        log |= live_percentiles(scores_B[active_B])
        return Gated(fractions, scores_B=scores_B, log=log)

    def state(self) -> dict[str, object]:
        """The direction, when it was extracted, and the band."""
        return {
            "extracted": self._extracted,
            "accuracy": self._accuracy,
            "direction": dict(self._direction),
            "decision": self._decision.state(),
        }

    def load(self, state: Mapping[str, object]) -> None:
        """Go on from `state` bit for bit."""
        device = self._policy.device
        direction = cast(Mapping[str, Tensor], state["direction"])
        self._extracted = cast(int, state["extracted"])
        self._accuracy = cast(float, state["accuracy"])
        self._direction = {name: value.to(device) for name, value in direction.items()}
        self._decision.load(cast(Mapping[str, object], state["decision"]), device=device)

    def _apply_scope(self, scores_B_M: Tensor) -> Tensor:
        """One score per rollout, or one per module: [B, K]."""
        if self._settings.scope == "module":
            return scores_B_M
        return scores_B_M.sum(1, keepdim=True)

    def _refresh(self, step: int) -> None:
        every = self._settings.refresh
        due = self._extracted < 0 or (every and step % every == 0 and step != self._extracted)
        if not due:
            return
        direction, hack_P_M, clean_P_M = extract_activations(
            self._policy, self._pairs, pad=self._pad
        )
        self._decision.calibrate(self._apply_scope(hack_P_M), self._apply_scope(clean_P_M))
        self._direction, self._extracted = direction, step
        self._accuracy = (hack_P_M.sum(1) > clean_P_M.sum(1)).double().mean().item()
