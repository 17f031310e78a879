"""The cosine gate: how far a rollout's own loss gradient points along the hack direction.

    x_b = cos(g_b, v)     g_b: gradient of rollout b's share of the loss, advantage included

Scope `global` takes one cosine over all modules, `module` one per module with its own band.
Granularity `token` scores each position's share of the gradient; its band is that of whole sides
of pairs. Prompt positions have a share too, since completions attend to them. A rollout's score
for the log is then the mean cosine of its positions, weighted by their norms.

Calibration `ranked` deals out the fractions of a recorded run instead, the largest to the largest
cosine: the mass of that run in the order of this direction.

Calibration `left_out` scores the pairs of each mode with the direction of the other modes: what a
hack looks like to a direction that never saw its kind.

With `memory` the direction is that of a sum over all extractions so far in which older ones fade: a
policy that moves fast shows each extraction something else of the hack.

With direction `random` the same machinery runs on a direction drawn once: it is never extracted
again, while its band is, like the real one, rebuilt from the pairs at each refresh. With `redrawn`
another one is drawn at each refresh, as the real one changes there too.

Axes: B rollouts, T positions, M modules, K bands.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

import torch
from torch import Tensor

from unhack.core.errors import UsageError
from unhack.training.adapters.adapter import Gradients
from unhack.training.config.settings import GateSettings
from unhack.training.routing.directions import (
    AdaptedPolicy,
    DirectionExtraction,
    block_shapes,
    extract,
    random_direction,
)
from unhack.training.routing.gate import Direction, Gated, GateView
from unhack.training.routing.gates.decide import Decision
from unhack.training.routing.gates.mass import mix_seed
from unhack.training.routing.gates.percentiles import live_percentiles
from unhack.training.worlds.world import Pair


class CosineGate:
    """Scores by cosine with a direction of pairs (or a random one); see the module.

    The direction is extracted at the first call and again every `refresh` steps (0: never again).
    Raises UsageError for a memory with left-out bands, which are of the newest directions.
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
        if settings.memory and settings.calibration == "left_out":
            raise UsageError("left-out bands are of the newest directions: set gate.memory=0")
        self._settings = settings
        self._policy = policy
        self._pairs = tuple(pairs)
        self._pad = pad
        self._quarantine = quarantine
        knob = quarantine if settings.per_knob else None
        self._decision = Decision(settings, knob=knob)
        self._seed = seed
        self._direction: Direction | None = None
        self._total: Direction = {}
        if settings.direction == "random":
            self._direction = random_direction(block_shapes(policy.adapters), seed=seed)
        elif settings.memory:
            self._total = block_shapes(policy.adapters)
        self._extracted: int = -1
        self._accuracy = 0.0

    def __call__(self, view: GateView, /) -> Gated:
        direction = self._refresh(view.step)
        gradients = view.gradients
        if self._settings.granularity == "token":
            dots, norms = gradients.dots_B_T_M(direction), gradients.norms_B_T_M()
        else:
            dots = gradients.dots_B_M(direction)[:, None]
            norms = gradients.norms_B_M()[:, None]
        lengths_M = _lengths(direction, gradients)
        scores_B = _mean_cosine(dots, norms, lengths_M)
        scores_B_K = scores_B[:, None]
        if self._global:
            scores = _whole(dots, norms, lengths_M)
            norms = _length(norms)[..., None]
        else:
            scores = dots / norms.clamp(min=_TINY)
            scores_B_K = dots.sum(1) / norms.sum(1).clamp(min=_TINY)
        active_B = view.advantages_B != 0
        present = (norms > 0) & active_B[:, None, None]
        fractions, log = self._decision.fractions(
            scores, present, rollout_scores_B_K=scores_B_K, view=view
        )
        log |= {"pair_accuracy": self._accuracy, "extracted": float(self._extracted)}
        log |= live_percentiles(scores_B[active_B])
        return Gated(fractions, scores_B=scores_B, log=log, direction=direction)

    def state(self) -> dict[str, object]:
        """The direction, when it was extracted, and the band."""
        return {
            "extracted": self._extracted,
            "accuracy": self._accuracy,
            "direction": dict(self._direction or {}),
            "total": dict(self._total),
            "decision": self._decision.state(),
        }

    def load(self, state: Mapping[str, object]) -> None:
        """Go on from `state` bit for bit."""
        device = self._policy.device
        direction = cast(Mapping[str, Tensor], state["direction"])
        total = cast(Mapping[str, Tensor], state["total"])
        self._extracted = cast(int, state["extracted"])
        self._accuracy = cast(float, state["accuracy"])
        self._direction = {name: value.to(device) for name, value in direction.items()} or None
        self._total = {name: value.to(device) for name, value in total.items()}
        self._decision.load(cast(Mapping[str, object], state["decision"]), device=device)

    @property
    def _global(self) -> bool:
        return self._settings.scope == "global"

    def _refresh(self, step: int) -> Direction:
        every = self._settings.refresh
        due = self._extracted < 0 or (every and step % every == 0 and step != self._extracted)
        if self._direction is not None and not due:
            return self._direction
        given = self._direction if self._settings.direction == "random" else None
        if self._settings.direction == "redrawn":
            shapes = block_shapes(self._policy.adapters)
            given = random_direction(shapes, seed=mix_seed(self._seed, step))
        former = {name: self._settings.memory * vector for name, vector in self._total.items()}
        found = self._extracted_from(self._pairs, given, former or None)
        self._decision.calibrate(*self._edges(found))
        self._direction, self._extracted = found.direction, step
        self._total = found.total if former else {}
        self._accuracy = found.accuracy
        return found.direction

    def _extracted_from(
        self, pairs: Sequence[Pair], direction: Direction | None, former: Direction | None = None
    ) -> DirectionExtraction:
        return extract(
            self._policy,
            pairs,
            pad=self._pad,
            direction=direction,
            former=former,
            quarantine=self._quarantine,
        )

    def _edges(self, found: DirectionExtraction) -> tuple[Tensor, Tensor]:
        """Scores [P, K] of hack and clean sides that the band is made of: of all pairs with the
        direction, or (`left_out`) of each mode's with that of the other modes."""
        if self._settings.calibration != "left_out":
            return self._columns(found)
        modes = sorted({pair.mode for pair in self._pairs})
        parts: list[tuple[Tensor, Tensor]] = []
        for mode in modes:
            others = [pair for pair in self._pairs if pair.mode != mode]
            own = [pair for pair in self._pairs if pair.mode == mode]
            direction = found.direction
            if self._settings.direction == "pairs" and others:
                direction = self._extracted_from(others, None).direction
            parts.append(self._columns(self._extracted_from(own, direction)))
        return torch.cat([hack for hack, _ in parts]), torch.cat([clean for _, clean in parts])

    def _columns(self, found: DirectionExtraction) -> tuple[Tensor, Tensor]:
        if self._global:
            return found.pair_cosines_hack[:, None], found.pair_cosines_clean[:, None]
        return found.module_cosines_hack, found.module_cosines_clean


_TINY = 1e-30


def _length(norms: Tensor) -> Tensor:
    return norms.square().sum(-1).sqrt()


def _lengths(direction: Direction, gradients: Gradients) -> Tensor:
    """[M]: 1, or 0 where the direction has nothing in a module."""
    return torch.stack([direction[name].square().sum().sqrt() for name in gradients.names])


def _whole(dots: Tensor, norms: Tensor, lengths_M: Tensor) -> Tensor:
    """The cosine over all modules: [B, 1 or T, 1]."""
    scale = (_length(norms) * _length(lengths_M)).clamp(min=_TINY)
    return (dots.sum(-1) / scale)[..., None]


def _mean_cosine(dots: Tensor, norms: Tensor, lengths_M: Tensor) -> Tensor:
    """[B]: the cosine over all modules, of tokens their mean with the norms as weights."""
    scale_B = _length(norms).sum(1) * _length(lengths_M)
    return dots.sum((1, 2)) / scale_B.clamp(min=_TINY)
