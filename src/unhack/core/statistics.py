"""Statistics of counts and of paired differences, for the audit, tournaments and training.

Written here, not taken from scipy, because scoring and audits run without numpy; a test compares
both.

Covered: Wilson's interval of a rate, quantiles of Student's t, the exact sign-flip test, Holm's
correction.
Not covered: a sign-flip test whose patterns are too many to count, unpaired data.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Literal

Alternative = Literal["greater", "less", "two-sided"]
"""The alternative hypothesis about the mean difference; `greater` and `less` are one-sided."""

Z95 = 1.959963984540054
"""Standard errors on each side of a 95 % interval."""
_T975 = {1: 12.706, 2: 4.303}
"""Student's 0.975 quantile where the expansion in `student_t` is too coarse."""
EXACT_UP_TO = 40
"""Pairs up to which all 2^n sign patterns are counted, whatever the differences."""
_FINEST = 10_000
"""Largest denominator of differences that are taken as fractions."""
_WIDEST = 1_000_000
"""Largest sum of absolute differences, in steps of their common denominator, that has a table."""


def wilson(hits: int, of: int) -> tuple[float, float]:
    """95 % score interval of a rate (Wilson 1927, JASA 22:209); 0 to 1 for none of none."""
    if not of:
        return 0.0, 1.0
    rate, square = hits / of, Z95**2
    middle = (rate + square / (2 * of)) / (1 + square / of)
    half = Z95 / (1 + square / of) * math.sqrt(rate * (1 - rate) / of + square / (4 * of * of))
    return max(0.0, middle - half), min(1.0, middle + half)


def student_t(freedom: int) -> float:
    """The 0.975 quantile of Student's t, right to 1 % from three degrees of freedom on."""
    if freedom in _T975:
        return _T975[freedom]
    z, n = Z95, float(freedom)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
    )
    return z + sum(term / n ** (power + 1) for power, term in enumerate(terms))


def exact_sign_flip(differences: Sequence[float], *, alternative: Alternative) -> float | None:
    """p of the paired permutation test on the mean (Fisher 1935); None for too many patterns.

    Under the null each difference is as likely with the other sign. All 2^n patterns count: by a
    table of their sums where the differences are multiples of one step, as those of rates are
    (Pagano and Tritchler 1983), one by one up to `EXACT_UP_TO` pairs. Sums within rounding of each
    other count as equal. Raises ValueError for no differences.
    """
    if not differences:
        raise ValueError("a test of no pairs")
    # With every pattern there is its mirror image, so each side is a count of large sums.
    observed = math.fsum(differences) * (-1 if alternative == "less" else 1)
    sides = 2 if alternative == "two-sided" else 1
    least = abs(observed) if sides == 2 else observed
    least -= 1e-10 * math.fsum(map(abs, differences))
    if sides == 2 and least <= 0:
        return 1.0
    steps = _steps(differences)
    if steps is not None:
        whole = sum(steps) * (-1 if alternative == "less" else 1)
        above = _sums_above(steps, abs(whole) if sides == 2 else whole)
    elif len(differences) <= EXACT_UP_TO:
        above = _patterns_above(differences, least)
    else:
        return None
    return sides * above / 2 ** len(differences)


def min_p(count: int, *, alternative: Alternative) -> float:
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


def _steps(values: Sequence[float]) -> list[int] | None:
    """The values in steps of one fraction; None where there is none, or too many steps."""
    parts = [Fraction(value).limit_denominator(_FINEST) for value in values]
    if any(abs(float(part) - value) > 1e-12 for part, value in zip(parts, values, strict=True)):
        return None
    per_unit = math.lcm(*(part.denominator for part in parts))
    whole = [int(part * per_unit) for part in parts]
    return whole if sum(map(abs, whole)) <= _WIDEST else None


def _sums_above(steps: Sequence[int], least: int) -> int:
    """How many sign patterns have a sum of at least `least`.

    A pattern's sum is the sum of all absolute values less twice that of those it makes negative.
    One long integer is the table of the latter: digit s, in a base above 2^n, counts the patterns
    with the sum s, so that a value is added to all of them by one shift.
    """
    width = len(steps) + 1
    table = 1
    for value in map(abs, steps):
        table += table << (value * width)
    most = (sum(map(abs, steps)) - least) // 2
    lower = table & ((1 << ((most + 1) * width)) - 1)
    return lower % ((1 << width) - 1)  # the sum of the digits


def _patterns_above(values: Sequence[float], least: float) -> int:
    """How many sign patterns have a sum of at least `least`.

    The sums of the two halves are sorted, and while one goes up the other goes down: 2^(N/2) steps
    instead of 2^N (Horowitz and Sahni 1974).
    """
    half = len(values) // 2
    left, right = _all_sums(values[:half]), _all_sums(values[half:])
    found, at = 0, len(right)
    for value in left:
        while at and right[at - 1] >= least - value:
            at -= 1
        found += len(right) - at
    return found


def _all_sums(values: Sequence[float]) -> list[float]:
    """The sums of all sign patterns, sorted."""
    sums = [0.0]
    for value in map(abs, values):
        # Two sorted runs, which sorting merges in one pass.
        sums = sorted([total - value for total in sums] + [total + value for total in sums])
    return sums
