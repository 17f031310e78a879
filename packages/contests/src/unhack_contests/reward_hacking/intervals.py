"""Intervals and tests that the three tracks share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata  # pyright: ignore[reportMissingTypeStubs, reportUnknownVariableType]

from unhack.tournament.kit import Flag, Measurement

SIGMAS = 3.0
"""Standard errors beyond which a difference is no chance: one in 740 by chance alone."""
_RESAMPLES = 200
_WIDTH = 2 * 1.96


def bootstrap(
    score: Callable[[NDArray[Any]], float], count: int, *, seed: int
) -> tuple[float, float]:
    """95 % interval of `score(indices)` when the `count` units are drawn anew with replacement."""
    rng = np.random.default_rng([seed, count, 95])
    values = [score(rng.integers(0, count, count)) for _ in range(_RESAMPLES)]
    low, high = np.quantile(values, [0.025, 0.975])
    return float(low), float(high)


def upto(count: int) -> NDArray[Any]:
    """0, 1, ... below `count`."""
    return np.array(range(count), dtype=np.int64)


def ranks(values: NDArray[Any]) -> NDArray[Any]:
    """Ranks from 1 along the last axis; ties share the mean of theirs."""
    found: Any = rankdata(values, axis=-1)
    return found


def standard_error(values: NDArray[Any]) -> NDArray[Any]:
    """Of the mean over the last axis."""
    return np.std(values, axis=-1, ddof=1) / values.shape[-1] ** 0.5


def gap_flag(judged: Measurement, audited: Measurement) -> Flag | None:
    """`calibrated_on_test` where fitness on the judge's data is higher by more than chance."""
    if not (judged.valid and audited.valid):
        return None
    errors = [(one.high - one.low) / _WIDTH for one in (judged, audited)]
    spread = 2**0.5 * max(errors)  # a fitness at its floor looks surer than it is
    gap = judged.fitness - audited.fitness
    if gap <= SIGMAS * spread or gap <= 0:
        return None
    return Flag(
        "calibrated_on_test",
        f"fitness {judged.fitness:.3f} on the judge's data, {audited.fitness:.3f} on fresh data: "
        f"{gap / max(spread, 1e-12):.1f} standard errors",
        "counterfactual",
    )


def bound_flag(measured: Measurement, bound: float) -> tuple[Flag, ...]:
    """`beyond_bound` where a fitness is above what can be reached at all."""
    if measured.fitness <= bound + 1e-9:
        return ()
    text = f"fitness {measured.fitness:.4f} is above the bound of {bound:g}"
    return (Flag("beyond_bound", text, "bounds"),)
