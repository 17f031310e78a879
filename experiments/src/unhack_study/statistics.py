"""Statistics of experiments: paired tests and intervals.

Axes: N pairs (one for each seed and base model), K draws.

Covered: the sign-flip test (exact where its patterns can be counted),
Wilcoxon's test beside it (exact up to 50 pairs, scipy's approximation beyond), percentile
bootstrap, from scipy. The exact tests are not: scipy counts all patterns of few pairs only. Not
covered: unpaired data; runs of unlike seeds are left out of a test and counted by the caller.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats  # pyright: ignore[reportMissingTypeStubs]

from unhack.core.statistics import Alternative, exact_sign_flip
from unhack.training.evaluation.counts import summary

_COUNTED_UP_TO = 50
"""Pairs up to which Wilcoxon's test counts all patterns, as scipy does where there are no ties."""
_SAME = 1e-10
"""Of the sum of absolute differences: sums so near count as equal."""


@dataclass(frozen=True, slots=True)
class Paired:
    """A test of paired differences."""

    mean: float
    """Mean difference, in the unit of the values."""
    low: float | None
    high: float | None
    """95 % bootstrap interval of the mean difference; None for a single pair, which has none."""
    p: float
    """Of the sign-flip test."""
    wilcoxon: float | None
    """p of Wilcoxon's signed-rank test; None where all differences are zero."""
    count: int
    """Pairs."""
    alternative: Alternative
    exact: bool
    """True where all sign patterns were counted."""


def sign_flip(
    differences: Sequence[float],
    *,
    alternative: Alternative,
    draws: int = 200_000,
    seed: int = 0,
) -> tuple[float, bool]:
    """p of the paired permutation test on the mean, and whether it is exact.

    `exact_sign_flip` where all patterns can be counted; else `draws` random ones, as
    (hits + 1) / (draws + 1) (Phipson and Smyth 2010). Raises ValueError for no differences.
    """
    p = exact_sign_flip(differences, alternative=alternative)
    if p is not None:
        return p, True
    values_N = np.asarray(differences, dtype=np.float64)
    sign = -1.0 if alternative == "less" else 1.0
    sums_K = sign * _drawn_sums(values_N, draws=draws, seed=seed)
    observed = sign * float(values_N.sum())
    if alternative == "two-sided":
        sums_K, observed = np.abs(sums_K), abs(observed)
    hits = int((sums_K >= observed - _SAME * float(np.abs(values_N).sum())).sum())
    return (hits + 1) / (draws + 1), False


def paired(
    first: Sequence[float], second: Sequence[float], *, alternative: Alternative, seed: int = 0
) -> Paired:
    """Test first - second, pair by pair. Raises ValueError for unequal or no values."""
    differences = [a - b for a, b in zip(first, second, strict=True)]
    p, exact = sign_flip(differences, alternative=alternative, seed=seed)
    low, high = bootstrap(differences, seed=seed) if len(differences) > 1 else (None, None)
    return Paired(
        mean=summary(differences).mean,
        low=low,
        high=high,
        p=p,
        wilcoxon=_wilcoxon(differences, alternative),
        count=len(differences),
        alternative=alternative,
        exact=exact,
    )


def bootstrap(
    values: Sequence[float], *, level: float = 0.95, draws: int = 10_000, seed: int = 0
) -> tuple[float, float]:
    """Percentile interval of the mean (Efron 1979). Raises ValueError for fewer than two values."""
    if len(values) < 2:
        raise ValueError("an interval needs at least two values")
    found: Any = stats.bootstrap(  # pyright: ignore[reportUnknownMemberType]
        (values,), np.mean, n_resamples=draws, confidence_level=level, method="percentile",
        rng=np.random.default_rng(seed),
    )  # fmt: skip
    return float(found.confidence_interval.low), float(found.confidence_interval.high)


def _drawn_sums(values_N: NDArray[np.float64], *, draws: int, seed: int) -> NDArray[np.float64]:
    signs_K_N = np.random.default_rng(seed).integers(0, 2, (draws, values_N.size), dtype=np.int8)
    return (2.0 * signs_K_N - 1.0) @ values_N


def _wilcoxon(differences: Sequence[float], alternative: Alternative) -> float | None:
    """p of the signed-rank test (Wilcoxon 1945), zeros left out."""
    # Rounding must not break ties between differences of rates.
    rounded_N = np.array([round(value, 12) for value in differences if round(value, 12)])
    if not rounded_N.size:
        return None
    # It is the sign-flip test of the ranks, and scipy counts the patterns of ties one by one.
    if rounded_N.size <= _COUNTED_UP_TO:
        ranks_N: Any = stats.rankdata(np.abs(rounded_N))  # pyright: ignore[reportUnknownMemberType]
        signed = (np.sign(rounded_N) * ranks_N).tolist()
        return exact_sign_flip(signed, alternative=alternative)
    found: Any = stats.wilcoxon(  # pyright: ignore[reportUnknownMemberType]
        rounded_N, alternative=alternative
    )
    return float(found.pvalue)
