"""The cosine gate: how far a rollout's own loss gradient points along the hack direction.

    x_b = cos(g_b, v)     g_b: gradient of rollout b's share of the loss, advantage included

The cosine is over all modules. Granularity `token` scores each position's share of the gradient
and routes the top share of positions; prompt positions have a share too, since completions attend
to them. Calibration `ranked` deals out the fractions of a recorded run, the
largest to the largest cosine: the mass of that run in the order of this direction.

With direction `random` the same machinery runs on a direction drawn once, which is never extracted
again. With `redrawn` another one is drawn at each refresh, as the real one changes there too.

Axes: B rollouts, T positions, M modules.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import torch
from torch import Tensor

from unhack.training.adapters.adapter import Gradients
from unhack.training.config.settings import GateSettings
from unhack.training.routing.directions import (
    AdaptedPolicy,
    block_shapes,
    extract,
    random_direction,
)
from unhack.training.routing.gate import Direction, Gated, GateView
from unhack.training.routing.gates.decide import Decision
from unhack.training.routing.gates.mass import mix_seed
from unhack.training.worlds.world import Pair


class CosineGate:
    """Scores by cosine with a direction of pairs (or a random one); see the module.

    The direction is extracted at the first call and again every `refresh` steps (0: never again).
    """

    def __init__(
        self,
        settings: GateSettings,
        *,
        policy: AdaptedPolicy,
        pairs: Sequence[Pair],
        pad: int,
        seed: int,
        quarantine: bool = False,
    ) -> None:
        self._settings = settings
        self._policy = policy
        self._pairs = tuple(pairs)
        self._pad = pad
        self._quarantine = quarantine
        self._decision = Decision(settings, knob=quarantine if settings.per_knob else None)
        self._seed = seed
        self._direction: Direction | None = None
        self._known: tuple[Direction, Tensor] | None = None
        """The last direction, and its length in each module."""
        if settings.direction == "random":
            self._direction = random_direction(block_shapes(policy.adapters), seed=seed)
        self._extracted: int = -1
        self._accuracy = 0.0

    def __call__(self, view: GateView, /) -> Gated:
        direction = self._refresh(view.step)
        gradients = view.gradients
        dots_B_M, norms_B_M = gradients.dots_B_M(direction), gradients.norms_B_M()
        lengths_B = _length(norms_B_M)
        scale = _length(self._lengths_M(direction, gradients))
        scores_B = dots_B_M.sum(-1) / (lengths_B * scale).clamp(min=_TINY)
        active_B = view.advantages_B != 0
        if self._settings.granularity == "token":
            lengths_B_T = _length(gradients.norms_B_T_M())
            dots_B_T = gradients.dots_B_T_M(direction).sum(-1)
            scores_B_T = dots_B_T / (lengths_B_T * scale).clamp(min=_TINY)
            present_B_T = (lengths_B_T > 0) & active_B[:, None]
            chosen, log = self._decision.fractions(
                scores_B_T.flatten(), present_B_T.flatten(), view
            )
            fractions = chosen.view(*scores_B_T.shape, 1)
        else:
            chosen, log = self._decision.fractions(scores_B, (lengths_B > 0) & active_B, view)
            fractions = chosen.view(-1, 1, 1)
        log |= {"pair_accuracy": self._accuracy, "extracted": float(self._extracted)}
        log |= _live_percentiles(scores_B[active_B])
        return Gated(fractions, scores_B=scores_B, log=log, direction=direction)

    def state(self) -> dict[str, object]:
        """The direction, and when it was extracted."""
        return {
            "extracted": self._extracted,
            "accuracy": self._accuracy,
            "direction": dict(self._direction or {}),
        }

    def load(self, state: Mapping[str, object]) -> None:
        """Go on from `state` bit for bit."""
        device = self._policy.device
        direction = cast(Mapping[str, Tensor], state["direction"])
        self._extracted = cast(int, state["extracted"])
        self._accuracy = cast(float, state["accuracy"])
        self._direction = {name: value.to(device) for name, value in direction.items()} or None

    def _lengths_M(self, direction: Direction, gradients: Gradients) -> Tensor:
        """1, or 0 where the direction has nothing in a module."""
        if self._known is None or self._known[0] is not direction:
            found = [direction[name].square().sum().sqrt() for name in gradients.names]
            self._known = (direction, torch.stack(found))
        return self._known[1]

    def _refresh(self, step: int) -> Direction:
        every = self._settings.refresh
        due = self._extracted < 0 or (every and step % every == 0 and step != self._extracted)
        if self._direction is not None and not due:
            return self._direction
        given = self._direction if self._settings.direction == "random" else None
        if self._settings.direction == "redrawn":
            shapes = block_shapes(self._policy.adapters)
            given = random_direction(shapes, seed=mix_seed(self._seed, step))
        found = extract(
            self._policy,
            self._pairs,
            pad=self._pad,
            direction=given,
            quarantine=self._quarantine,
        )
        self._direction, self._extracted = found.direction, step
        self._accuracy = found.accuracy
        return found.direction


_TINY = 1e-30


def _length(norms: Tensor) -> Tensor:
    return norms.square().sum(-1).sqrt()


def _live_percentiles(scores: Tensor) -> dict[str, float]:
    """The 10th, 50th and 90th percentile of the scores of active rollouts; empty without any."""
    if not scores.numel():
        return {}
    points = torch.tensor([0.1, 0.5, 0.9], dtype=scores.dtype, device=scores.device)
    values: list[float] = cast(Any, scores.quantile(points)).tolist()
    return dict(zip(("live_p10", "live_p50", "live_p90"), values, strict=True))
