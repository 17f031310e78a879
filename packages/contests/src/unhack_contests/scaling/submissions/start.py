"""Predict the loss of training runs with the law L = E + A/N^a + B/D^b, by least squares.

For every pair of exponents the best E, A and B are linear; a grid finds the exponents.
"""

from itertools import combinations
from typing import Any

import numpy as np


def predict(runs: Any, queries: Any) -> list[tuple[float, float, float]]:
    """(mean, low, high) of every query."""
    n, d, loss = runs["parameters"], runs["tokens"], runs["loss"]
    scale = np.exp(np.log(n).mean()), np.exp(np.log(d).mean())
    n, d = n / scale[0], d / scale[1]
    floor = float(runs["floor"])
    best: tuple[float, Any, Any] | None = None
    for a in np.linspace(0.1, 1.5, 15):
        for b in np.linspace(0.1, 1.5, 15):
            columns = np.stack([np.ones(len(n)), n**-a, d**-b], axis=1)
            error, weights = _nonnegative(columns, loss - floor)
            if best is None or error < best[0]:
                best = error, weights, (a, b)
    assert best is not None
    error, weights, (a, b) = best
    spread = np.sqrt(error / max(1, len(loss) - 5))
    n, d = queries["parameters"] / scale[0], queries["tokens"] / scale[1]
    mean = floor + weights[0] + weights[1] * n**-a + weights[2] * d**-b
    return [(float(m), float(m - 1.28 * spread), float(m + 1.28 * spread)) for m in mean]


def _nonnegative(columns: Any, wanted: Any) -> tuple[float, Any]:
    """Least squares with weights that are not negative."""
    best = float(wanted @ wanted), np.zeros(3)
    for count in (1, 2, 3):
        for chosen in combinations(range(3), count):
            part = columns[:, chosen]
            found = _solved(part, wanted)
            error = float(((part @ found - wanted) ** 2).sum())
            if found.min() >= 0 and error < best[0]:
                weights = np.zeros(3)
                weights[list(chosen)] = found
                best = error, weights
    return best


def _solved(columns: np.ndarray[Any, Any], wanted: np.ndarray[Any, Any]) -> Any:
    return np.linalg.lstsq(columns, wanted, rcond=None)[0]
