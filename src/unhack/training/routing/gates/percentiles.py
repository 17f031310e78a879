"""Percentiles of the live scores of a step, for the log."""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor


def live_percentiles(scores: Tensor) -> dict[str, float]:
    """The 10th, 50th and 90th percentile of the scores of active rollouts; empty without any."""
    if not scores.numel():
        return {}
    points = torch.tensor([0.1, 0.5, 0.9], dtype=scores.dtype, device=scores.device)
    values: list[float] = cast(Any, scores.quantile(points)).tolist()
    return dict(zip(("live_p10", "live_p50", "live_p90"), values, strict=True))
