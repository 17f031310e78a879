# ruff: noqa: N802, N815 - axes are part of a tensor's name
"""From logits to a fitness: paired losses, each model at its best temperature, and their interval.

    fitness = quality * log2(reference bytes / counted bytes)
    quality = exp(-max(0, ppl / ppl_ref - 1)), and 0 beyond the limit of `ngram`

Axes: N windows, P positions, V vocabulary. Losses are in nats.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
_DRAWS = 2000
_SPAN = math.log(4.0)
"""Temperatures between 1/4 and 4 are tried."""
_MAX_ROWS = 4096
_GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0


@dataclass(frozen=True, slots=True)
class PairedLosses:
    """A model's loss beside the reference's on the same windows."""

    losses_N: Array
    """Mean loss of each window."""
    reference_N: Array

    @property
    def differences_N(self) -> Array:
        return self.losses_N - self.reference_N

    @property
    def delta(self) -> float:
        """Mean difference; the perplexities' ratio is its exponential."""
        return float(self.differences_N.mean())

    @property
    def error(self) -> float:
        """Standard error of `delta`."""
        return standard_error(self.differences_N)


def standard_error(values: Array) -> float:
    """Of the mean of independent values."""
    return float(values.std(ddof=1) / math.sqrt(len(values)))


def losses(logits: Array, targets: Array, *, temperature: float = 1.0) -> Array:
    """Cross-entropy [N, P] of targets [N, P] under logits [N, P, V]."""
    found = np.empty(targets.shape)
    for row, (scores, truth) in enumerate(zip(logits, targets, strict=True)):
        found[row] = _row_losses(scores, truth, temperature)
    return found


def best_temperature(logits: Array, targets: Array) -> float:
    """The one that minimises the loss, by golden section on its logarithm."""
    flat, truth = logits.reshape(-1, logits.shape[-1]), targets.reshape(-1)
    step = max(1, len(truth) // _MAX_ROWS)
    flat, truth = flat[::step], truth[::step]

    return least(lambda heat: float(_row_losses(flat, truth, heat).mean()))


def least(loss: Callable[[float], float]) -> float:
    """The temperature with the least loss, by golden section on its logarithm."""
    low, high = -_SPAN, _SPAN
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_left, at_right = loss(math.exp(left)), loss(math.exp(right))
    for _ in range(16):
        if at_left < at_right:
            high, right, at_right = right, left, at_left
            left = high - _GOLDEN * (high - low)
            at_left = loss(math.exp(left))
        else:
            low, left, at_left = left, right, at_right
            right = low + _GOLDEN * (high - low)
            at_right = loss(math.exp(right))
    return math.exp((low + high) / 2.0)


def fitness(delta: float, *, ratio: float, limit: float) -> float:
    """The fitness of a mean loss difference and a compression ratio."""
    return quality(delta, limit=limit) * math.log2(max(1.0, ratio))


def quality(delta: float, *, limit: float) -> float:
    """1 at the reference's perplexity or below it, 0 where its weights are no longer needed."""
    if delta > limit:
        return 0.0
    return math.exp(-max(0.0, math.expm1(delta)))


def interval(paired: PairedLosses, *, ratio: float, limit: float, seed: int) -> tuple[float, float]:
    """95 % bootstrap interval of the fitness over windows."""
    rng = np.random.default_rng(seed)
    values = paired.differences_N
    rows = rng.integers(0, len(values), size=(_DRAWS, len(values)))
    low, high = np.quantile(values[rows].mean(axis=1), [0.025, 0.975])
    return (
        fitness(float(high), ratio=ratio, limit=limit),
        fitness(float(low), ratio=ratio, limit=limit),
    )


def _row_losses(logits: Array, targets: Array, temperature: float) -> Array:
    scaled = logits.astype(np.float64 if logits.shape[-1] <= 1024 else np.float32)
    scaled = (scaled - scaled.max(axis=-1, keepdims=True)) / temperature
    total = np.log(np.exp(scaled).sum(axis=-1))
    return total - np.take_along_axis(scaled, targets[..., None].astype(np.int64), -1)[..., 0]
