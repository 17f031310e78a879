"""A gate that may route rewarded rollouts only: those with a positive advantage.

A hack is reinforced where it earns a reward. A punished clean rollout has a gradient that points
along the hack direction too (away from clean), takes a place in every share of the scores, and
teaches the deployed block nothing about hacks.

Rounding makes advantages of rewards that do not differ: eight rewards of 0.7 have a mean that is
not 0.7 in float32. Such rollouts are not rewarded: `differs` tells them by their rewards,
`without_rounding` by advantages alone, where a loop gives no more.

Covered: any gate; it sees no signal in the others, which are kept whole.
Not covered: hacks that earn less than the mean of their group.

Axes: B rollouts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

import torch
from torch import Tensor

from unhack.training.routing.gate import Gate, Gated, GateView

_ROUNDING = 4 * torch.finfo(torch.float32).eps
"""Of the largest reward of a group: what a float32 sum of several rewards may be off by."""
_NOISE, _ALIKE = 1e-5, 1e-2
"""Of the largest advantage: below the first an advantage is rounding, below the second where the
whole group has the same, as rewards without a difference have once divided by their deviation."""


class RewardedGate:
    """Asks `gate` about rollouts with positive advantage; f = 0 for the rest."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate

    def __call__(self, view: GateView, /) -> Gated:
        rewarded_B = view.advantages_B > 0
        found = self._gate(replace(view, advantages_B=view.advantages_B * rewarded_B))
        return replace(found, fractions=found.fractions * rewarded_B[:, None, None])

    def state(self) -> dict[str, object]:
        """State of the gate."""
        return self._gate.state()

    def load(self, state: Mapping[str, object]) -> None:
        """Go on from `state` bit for bit."""
        self._gate.load(state)


def differs(rewards_B: Tensor, group_B: Tensor) -> Tensor:
    """bool [B]: True where a reward is not the mean of its whole group, but for rounding.

    A NaN is an unscored rollout, which takes no part.
    """
    places_B, count = _places(group_B)
    scored_B, values_B = ~rewards_B.isnan(), rewards_B.double().nan_to_num()
    sums, scored = (values_B.new_zeros(count) for _ in range(2))
    mean_B = sums.index_add(0, places_B, values_B)[places_B]
    mean_B = mean_B / scored.index_add(0, places_B, scored_B.double())[places_B].clamp(min=1)
    largest_B = _extreme(values_B.abs(), places_B, count, kind="amax")
    return scored_B & ((values_B - mean_B).abs() > _ROUNDING * largest_B)


def without_rounding(advantages_B: Tensor, group_B: Tensor) -> Tensor:
    """Advantages with 0 where their size says that rounding made them."""
    places_B, count = _places(group_B)
    sizes_B = advantages_B.abs()
    low_B, high_B = (
        _extreme(advantages_B, places_B, count, kind=kind) for kind in ("amin", "amax")
    )
    alike_B = (low_B == high_B) & (places_B.bincount(minlength=count)[places_B] > 1)
    parts_B = torch.where(alike_B, _ALIKE, _NOISE)
    return advantages_B.masked_fill(sizes_B <= parts_B * sizes_B.max(), 0.0)


def _places(group_B: Tensor) -> tuple[Tensor, int]:
    """The place of each rollout's group among the groups, and their number."""
    places_B: Tensor = cast(Any, group_B).unique(return_inverse=True)[1]
    return places_B, int(places_B.max().item()) + 1


def _extreme(values_B: Tensor, places_B: Tensor, count: int, *, kind: str) -> Tensor:
    """The least or largest value of each rollout's group."""
    found = values_B.new_zeros(count)
    return found.scatter_reduce(0, places_B, values_B, kind, include_self=False)[places_B]
