"""The interface of gates: which share of each rollout's gradient goes to the quarantine.

A gate returns fractions f in [0, 1]: the deployed block gets the sum of (1 - f) g, the quarantine
the sum of f g, so nothing is lost. f = 0 keeps, f = 1 routes, between both train.

Axes: B rollouts, T positions of the whole sequence, M adapted modules.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from torch import Tensor

from unhack.training.adapters.adapter import Gradients
from unhack.training.worlds.world import Judged

Direction = Mapping[str, Tensor]
"""A unit vector [N] per adapted module."""


@dataclass(frozen=True, slots=True)
class GateView:
    """The inputs of a gate. `judged` holds the oracle's labels and is empty where there is no
    oracle: only a gate that says `oracle` in its name reads `solved` and `channel`; only the
    detector gate reads `detected`."""

    gradients: Gradients
    advantages_B: Tensor
    quarantine_B: Tensor
    """bool: the knob state of each rollout."""
    judged: Sequence[Judged]
    step: int


@dataclass(frozen=True, slots=True)
class Gated:
    """A gate's answer and what it logs."""

    fractions: Tensor
    """[B, 1, 1], [B, 1, M], [B, T, 1] or [B, T, M], float32 in [0, 1]."""
    scores_B: Tensor | None = None
    """Scores that decided (cosines), one per rollout."""
    kept: Tensor | None = None
    """Share of the gradient that the deployed block gets, in the shape of `fractions`, where it is
    not 1 - f: after advantages were recentred."""
    direction: Direction | None = None
    """The direction that the scores refer to, for the log; None where there is none."""
    log: Mapping[str, float] = field(default_factory=dict[str, float])


class Gate(Protocol):
    """A rule that gives fractions once per step.

    Example:

        class HalfGate:
            def __call__(self, view: GateView, /) -> Gated:
                return Gated(torch.full_like(view.advantages_B, 0.5).view(-1, 1, 1))
    """

    def __call__(self, view: GateView, /) -> Gated: ...

    def state(self) -> dict[str, object]:
        """Plain data and tensors that a resumed run needs."""
        ...

    def load(self, state: Mapping[str, object]) -> None: ...
