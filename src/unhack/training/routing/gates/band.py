"""The band: from scores to fractions.

    f = clamp((x - lower) / (upper - lower), 0, 1)

Below `lower` a gradient is kept, above `upper` it is routed, between them it is split in a line.
The edges come from the scores of pairs: their clean sides set the lower edge, their hack sides the
upper one.

A band is *degenerate* where upper <= lower: the direction does not tell the sides of its own pairs
apart. It is so too where upper <= 0, for scores that are cosines: then a gradient that has nothing
to do with the direction would be routed as a whole (a collapsed policy has such bands, since both
sides of its pairs have nearly one gradient). Then nothing is routed, and the log says so. (A hard
threshold instead would route by a direction that is known not to work.)

Axes: P pairs, K bands (one, or one per module), B rollouts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

Edges = Literal["p75", "floored", "mean", "extremes", "left_out"]
"""Rule by which the scores of a side become an edge.

`floored`: the 75th percentiles, the lower edge at least 0. `extremes`: the least clean and the
largest hack. `left_out`: the 75th percentile of clean and the 25th of hack sides; where these are
inverted, a step halfway between the medians."""
_STEP = 2e-3
"""Width of that step."""


@dataclass(frozen=True, slots=True)
class Band:
    """Edges [K], in units of the score."""

    lower_K: Tensor
    upper_K: Tensor
    least: float = 0.0
    """Bound that `upper` must exceed: 0 for cosines, -inf for scores without a natural zero."""

    @property
    def degenerate_K(self) -> Tensor:
        """bool: where nothing is routed."""
        return ~((self.upper_K > self.lower_K) & (self.upper_K > self.least))

    def fractions(self, scores: Tensor) -> Tensor:
        """f of scores [..., K] in the same shape, float32 in [0, 1]."""
        width_K = torch.where(self.degenerate_K, 1.0, self.upper_K - self.lower_K)
        ramp = ((scores - self.lower_K) / width_K).clamp(0, 1)
        return torch.where(self.degenerate_K, 0.0, ramp).float()

    def log(self) -> dict[str, float]:
        """Edges and width (means over bands), and the share of bands that are degenerate."""
        lower, upper = self.lower_K.mean().item(), self.upper_K.mean().item()
        return {
            "lower": lower,
            "upper": upper,
            "width": upper - lower,
            "degenerate": self.degenerate_K.double().mean().item(),
        }


def calibrate(
    hack_P_K: Tensor, clean_P_K: Tensor, *, edges: Edges, least: float = 0.0
) -> Band:  # fmt: skip
    """The band of the scores of pairs [P, K], per column."""
    if edges == "mean":
        return Band(clean_P_K.mean(0), hack_P_K.mean(0), least)
    if edges == "extremes":
        return Band(clean_P_K.amin(0), hack_P_K.amax(0), least)
    lower_K, upper_K = clean_P_K.quantile(0.75, dim=0), hack_P_K.quantile(0.75, dim=0)
    if edges == "left_out":
        upper_K = hack_P_K.quantile(0.25, dim=0)
        middle_K = (clean_P_K.quantile(0.5, dim=0) + hack_P_K.quantile(0.5, dim=0)) / 2
        inverted_K = upper_K <= lower_K
        lower_K = torch.where(inverted_K, middle_K - _STEP / 2, lower_K)
        upper_K = torch.where(inverted_K, middle_K + _STEP / 2, upper_K)
    return Band(lower_K.clamp(min=0) if edges == "floored" else lower_K, upper_K, least)


def top_share(scores: Tensor, present: Tensor, *, share: float) -> Tensor:
    """f = 1 for the largest `share` (rounded up) of present scores of each band, else 0.

    Both [..., K]. Equal scores are taken in their order, so the count is exact.
    """
    flat_S_K, present_S_K = scores.flatten(0, -2), present.flatten(0, -2)
    counts_K = (present_S_K.sum(0).double() * share - 1e-9).ceil()
    hidden_S_K = flat_S_K.masked_fill(~present_S_K, -math.inf)
    order_S_K = hidden_S_K.argsort(dim=0, descending=True, stable=True)
    ranks_S_K = torch.empty_like(order_S_K)
    places_S_1 = torch.arange(flat_S_K.shape[0], device=scores.device)[:, None]
    ranks_S_K.scatter_(0, order_S_K, places_S_1.expand_as(order_S_K))
    return (ranks_S_K < counts_K).float().view(scores.shape)
