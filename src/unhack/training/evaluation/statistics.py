"""Statistics of experiments: rates, means over seeds, exact paired tests, corrections, intervals.

Axes: N pairs (one for each seed and base model), K draws.

Covered: Wilson intervals, mean and standard error, the exact sign-flip test, Wilcoxon's test beside
it, Holm's correction, percentile bootstrap. Not covered: unpaired data; runs of unlike seeds are
left out of a test and counted by the caller.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Alternative = Literal["greater", "less", "two-sided"]
"""The hypothesis on the mean difference; `greater` and `less` are one-sided."""

EXACT_UP_TO = 40
"""Pairs up to which all 2^n sign patterns are counted, whatever the differences."""
_FINEST = 10_000
"""Largest denominator of differences that are taken as fractions."""
_WIDEST = 1_000_000
"""Largest sum of absolute differences, in steps of their common denominator, that has a table."""
_Z95 = 1.959963984540054


@dataclass(frozen=True, slots=True)
class Summary:
    """A mean over runs."""

    mean: float
    sem: float | None
    """Standard error of the mean (n - 1 in the variance); None for one run."""
    count: int


@dataclass(frozen=True, slots=True)
class Paired:
    """A test of paired differences."""

    mean: float
    """Mean difference, in the unit of the values."""
    low: float
    high: float
    """95 % bootstrap interval of the mean difference."""
    p: float
    """Of the sign-flip test."""
    wilcoxon: float | None
    """p of Wilcoxon's signed-rank test; None where all differences are zero."""
    count: int
    """Pairs."""
    alternative: Alternative
    exact: bool
    """True where all sign patterns were counted."""


def wilson(hits: int, of: int) -> tuple[float, float]:
    """95 % score interval of a rate (Wilson 1927, JASA 22:209); 0 to 1 for none of none."""
    if not of:
        return 0.0, 1.0
    rate, square = hits / of, _Z95**2
    middle = (rate + square / (2 * of)) / (1 + square / of)
    half = _Z95 / (1 + square / of) * math.sqrt(rate * (1 - rate) / of + square / (4 * of * of))
    return max(0.0, middle - half), min(1.0, middle + half)


def summary(values: Sequence[float]) -> Summary:
    """Mean and standard error. Raises ValueError for no values."""
    if not values:
        raise ValueError("the mean of nothing")
    count = len(values)
    mean = math.fsum(values) / count
    if count == 1:
        return Summary(mean, None, 1)
    variance = math.fsum((value - mean) ** 2 for value in values) / (count - 1)
    return Summary(mean, math.sqrt(variance / count), count)


def sign_flip(
    differences: Sequence[float],
    *,
    alternative: Alternative,
    draws: int = 200_000,
    seed: int = 0,
) -> tuple[float, bool]:
    """p of the paired permutation test on the mean, and whether it is exact (Fisher 1935).

    Under the null each difference is as likely with the other sign. Up to `EXACT_UP_TO` pairs all
    2^n patterns count; beyond too, where the differences are multiples of one step, as those of
    rates are (Pagano and Tritchler 1983); else `draws` random ones, as (hits + 1) / (draws + 1)
    (Phipson and Smyth 2010). Sums within rounding of each other count as equal.
    Raises ValueError for no differences.
    """
    values_N = np.asarray(differences, dtype=np.float64)
    if not values_N.size:
        raise ValueError("a test of no pairs")
    # With every pattern there is its mirror image, so each side is a count of large sums.
    sign = -1.0 if alternative == "less" else 1.0
    observed = sign * float(values_N.sum())
    sides = 2 if alternative == "two-sided" else 1
    limit = abs(observed) if sides == 2 else observed
    limit -= 1e-10 * float(np.abs(values_N).sum())
    if sides == 2 and limit <= 0:
        return 1.0, True
    if values_N.size <= EXACT_UP_TO:
        return sides * _patterns_above(values_N, limit) / 2**values_N.size, True
    steps_N = _steps(values_N)
    if steps_N is not None:
        least = int(steps_N.sum()) * int(sign)
        return sides * _share_above(steps_N, abs(least) if sides == 2 else least), True
    sums_K = _drawn_sums(values_N, draws=draws, seed=seed)
    hits = int(((np.abs(sums_K) if sides == 2 else sign * sums_K) >= limit).sum())
    return (hits + 1) / (draws + 1), False


def paired(
    first: Sequence[float], second: Sequence[float], *, alternative: Alternative, seed: int = 0
) -> Paired:
    """Test first - second, pair by pair. Raises ValueError for unequal or no values."""
    differences = [a - b for a, b in zip(first, second, strict=True)]
    p, exact = sign_flip(differences, alternative=alternative, seed=seed)
    low, high = bootstrap(differences, seed=seed)
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


def least_p(count: int, *, alternative: Alternative) -> float:
    """The smallest p that `count` pairs can have: with too few pairs no effect is large enough."""
    return min(1.0, 2.0**-count * (2 if alternative == "two-sided" else 1))


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Adjusted p by name: the chance of one false finding among all (Holm 1979)."""
    adjusted: dict[str, float] = {}
    highest = 0.0
    ordered = sorted(p_values.items(), key=lambda item: item[1])
    for place, (name, p) in enumerate(ordered):
        highest = max(highest, min(1.0, p * (len(ordered) - place)))
        adjusted[name] = highest
    return {name: adjusted[name] for name in p_values}


def bootstrap(
    values: Sequence[float], *, level: float = 0.95, draws: int = 10_000, seed: int = 0
) -> tuple[float, float]:
    """Percentile interval of the mean (Efron 1979); the value itself where there is only one."""
    values_N = np.asarray(values, dtype=np.float64)
    picks_K_N = np.random.default_rng(seed).integers(0, values_N.size, (draws, values_N.size))
    means_K = values_N[picks_K_N].mean(axis=1)
    low, high = np.quantile(means_K, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def _patterns_above(values_N: NDArray[np.float64], limit: float) -> int:
    """Count the sign patterns whose sum is at least `limit`.

    The patterns of the two halves are sorted, and for each of one half a binary search counts
    those of the other: 2^(N/2) of each instead of 2^N (Horowitz and Sahni 1974).
    """
    half = values_N.size // 2
    left_K, right_K = (np.sort(_all_sums(part)) for part in (values_N[:half], values_N[half:]))
    return int((right_K.size - np.searchsorted(right_K, limit - left_K)).sum())


def _all_sums(values_N: NDArray[np.float64]) -> NDArray[np.float64]:
    """The sums of all sign patterns, [2^N]."""
    sums_K = np.zeros(1)
    for value in values_N:
        sums_K = np.concatenate([sums_K + value, sums_K - value])
    return sums_K


def _steps(values_N: NDArray[np.float64]) -> NDArray[np.int64] | None:
    """The values in steps of one fraction; None where there is none, or too many steps."""
    parts = [Fraction(float(value)).limit_denominator(_FINEST) for value in values_N]
    if any(abs(float(part) - value) > 1e-12 for part, value in zip(parts, values_N, strict=True)):
        return None
    per_unit = math.lcm(*(part.denominator for part in parts))
    whole = [int(part * per_unit) for part in parts]
    return np.array(whole) if sum(map(abs, whole)) <= _WIDEST else None


def _share_above(steps_N: NDArray[np.int64], least: int) -> float:
    """The share of all sign patterns whose sum is at least `least`.

    A pattern's sum is the sum of all absolute values less twice that of those it makes negative;
    a table holds the share of patterns for each sum of the latter.
    """
    total = int(np.abs(steps_N).sum())
    shares_S = np.zeros(total + 1)
    shares_S[0] = 1.0
    for value in np.abs(steps_N[steps_N != 0]):
        shares_S[value:] += shares_S[:-value].copy()
        shares_S /= 2
    return float(shares_S[: (total - least) // 2 + 1].sum())


def _drawn_sums(values_N: NDArray[np.float64], *, draws: int, seed: int) -> NDArray[np.float64]:
    signs_K_N = np.random.default_rng(seed).integers(0, 2, (draws, values_N.size), dtype=np.int8)
    return (2.0 * signs_K_N - 1.0) @ values_N


def _wilcoxon(differences: Sequence[float], alternative: Alternative) -> float | None:
    """p of the signed-rank test (Wilcoxon 1945): the sign-flip test on ranks of absolute values,
    zeros left out, ties at their mean rank, so it is exact with ties too."""
    # Rounding must not break ties between differences of rates.
    rounded = [round(value, 12) for value in differences if round(value, 12)]
    if not rounded:
        return None
    sizes = sorted(abs(value) for value in rounded)
    ranks = {size: sizes.index(size) + (sizes.count(size) + 1) / 2 for size in dict.fromkeys(sizes)}
    signed = [math.copysign(ranks[abs(value)], value) for value in rounded]
    return sign_flip(signed, alternative=alternative)[0]
