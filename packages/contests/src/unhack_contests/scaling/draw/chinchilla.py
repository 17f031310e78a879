"""The judge's own forecast: L = E + A/N^a + B/D^b by least squares, with its prediction interval.

Covered: a deterministic fit; E is at least the entropy floor, A and B are not negative.
Not covered: anything cleverer; this is the forecast to beat.

Source: Hoffmann et al. 2022, approach 3, with squared errors in place of the Huber loss.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from unhack_contests.scaling.runs.ladder import Array

Z80 = 1.2815515655446004
"""Half of an 80 % interval of the normal law, in standard deviations."""


@dataclass(frozen=True, slots=True)
class Law:
    """E + A n^-a + B d^-b, with n and d in units of `scale`."""

    constant: float
    first: float
    second: float
    exponents: tuple[float, float]
    scale: tuple[float, float]

    def at(self, parameters: Array, tokens: Array) -> Array:
        """The losses of (c,) runs."""
        n, d = parameters / self.scale[0], tokens / self.scale[1]
        a, b = self.exponents
        return self.constant + self.first * n**-a + self.second * d**-b

    def shifted(self, by: Array) -> Law:
        """The law with A, B, a and b changed by these fractions."""
        a, b = self.exponents
        return replace(
            self,
            first=self.first * (1 + by[0]),
            second=self.second * (1 + by[1]),
            exponents=(a * (1 + by[2]), b * (1 + by[3])),
        )


def fit_law(parameters: Array, tokens: Array, loss: Array, *, floor: float) -> Law:
    """Least squares over runs (n,)."""
    scale = float(np.exp(np.log(parameters).mean())), float(np.exp(np.log(tokens).mean()))
    n, d = parameters / scale[0], tokens / scale[1]
    spans = [(0.02, 2.0), (0.02, 2.0)]
    best: tuple[float, Array, tuple[float, float]] = (np.inf, np.zeros(3), (0.5, 0.5))
    for _ in range(4):
        grids = np.meshgrid(*(np.linspace(low, high, 17) for low, high in spans))
        a, b = (grid.reshape(-1, 1) for grid in grids)
        columns = np.stack([np.ones((len(a), len(n))), n**-a, d**-b], axis=2)
        errors, weights = _nonnegative(columns, loss - floor)
        at = int(errors.argmin())
        if errors[at] < best[0]:
            best = float(errors[at]), weights[at], (float(a[at, 0]), float(b[at, 0]))
        widths = [(high - low) / 8 for low, high in spans]
        spans = [
            (max(0.02, at - width), min(2.0, at + width))
            for at, width in zip(best[2], widths, strict=True)
        ]
    _, weights, exponents = best
    return Law(floor + float(weights[0]), float(weights[1]), float(weights[2]), exponents, scale)


def forecast(
    runs: tuple[Array, Array, Array], queries: tuple[Array, Array], *, floor: float
) -> Array:
    """(q, 3): mean, low and high of the 80 % prediction interval (delta method).

    `runs`: parameters, tokens and losses (n,); `queries`: parameters and tokens (q,).
    """
    law = fit_law(*runs, floor=floor)
    residual = runs[2] - law.at(runs[0], runs[1])
    variance = float((residual**2).sum() / max(1, len(residual) - 5))
    slope, ahead = _slope(law, runs[0], runs[1]), _slope(law, *queries)
    # A ridge far below the data: parameters that the runs do not fix stay finite.
    information = slope.T @ slope + 1e-6 * np.eye(5)
    spread = np.einsum("qi,ij,qj->q", ahead, np.linalg.inv(information), ahead)
    mean = law.at(*queries)
    reach = Z80 * np.sqrt(variance * (1 + spread))
    return np.stack([mean, mean - reach, mean + reach], axis=1)


def _slope(law: Law, parameters: Array, tokens: Array) -> Array:
    """(rows, 5): derivatives by E, A, B, a and b."""
    n, d = parameters / law.scale[0], tokens / law.scale[1]
    a, b = law.exponents
    first, second = n**-a, d**-b
    columns = [
        np.ones(len(n)), first, second,
        -law.first * first * np.log(n), -law.second * second * np.log(d),
    ]  # fmt: skip
    return np.stack(columns, axis=1)


def _nonnegative(columns: Array, wanted: Array) -> tuple[Array, Array]:
    """Least squares with weights that are not negative, for many designs at once.

    `columns` (g, n, k), `wanted` (n,); returns the errors (g,) and the weights (g, k). The best of
    all active sets; where the full set is feasible, no part of it is better.
    """
    count, width = int(columns.shape[0]), int(columns.shape[2])
    errors = np.full(count, float(wanted @ wanted))
    weights = np.zeros((count, width))
    open_rows = np.arange(count)
    for size in range(width, 0, -1):
        for chosen in combinations(range(width), size):
            part = columns[open_rows][:, :, chosen]
            found: Array = np.linalg.pinv(part) @ wanted
            error = (((part @ found[:, :, None])[:, :, 0] - wanted) ** 2).sum(axis=1)
            better = (found.min(axis=1) >= 0) & (error < errors[open_rows])
            rows = open_rows[better]
            errors[rows] = error[better]
            weights[rows] = 0.0
            weights[rows[:, None], chosen] = found[better]
        if size == width:
            open_rows = open_rows[(weights[open_rows] <= 0).all(axis=1)]
    return errors, weights
