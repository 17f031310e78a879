"""Proper scores, skill, and what nobody can know without having seen.

Covered: the weighted interval score of a median and an 80 % interval, which no forecaster improves
by saying other than what they believe; its smallest expected value under seed noise.
Not covered: forecasts of other than independent runs.

Sources: Gneiting, Raftery 2007 (interval score); Bracher et al. 2021 (weighted interval score, an
approximation of the CRPS).
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammainc, gammaincinv  # pyright: ignore[reportMissingTypeStubs, reportUnknownVariableType]

from unhack_contests.scaling.runs.ladder import Array

ALPHA = 0.2
_RESAMPLES = 2000
IDEAL = 0.5
"""Expected score, in standard deviations of the noise, of who knows the law itself:
(0.7979 / 2 + ALPHA / 2 * 3.510) / 1.5."""


def interval_score(answers: Array, outcomes: Array) -> Array:
    """(q,): weighted interval score of each query, averaged over its outcomes; smaller is better.

    `answers` (q, 3): mean, low, high; `outcomes` (q, seeds). In the unit of the loss.
    """
    mean, low, high = (answers[:, at, None] for at in range(3))
    outside = np.maximum(low - outcomes, 0) + np.maximum(outcomes - high, 0)
    interval = (high - low) + 2 / ALPHA * outside
    return ((0.5 * np.abs(outcomes - mean) + 0.5 * ALPHA * interval) / 1.5).mean(axis=1)


def skill(scores: Array, baseline: Array, *, best: float) -> float:
    """How much of the baseline's score was saved: 0 for as bad or worse, at most `best`."""
    return float(np.clip(1 - scores.sum() / baseline.sum(), 0.0, best))


def attainable(baseline: Array, noise: Array) -> float:
    """The skill of a forecaster who knows the law and not the noise (standard deviations (q,))."""
    return float(np.clip(1 - IDEAL * noise.sum() / baseline.sum(), 0.0, 1.0))


def interval_of_skill(
    scores: Array, baseline: Array, *, best: float, seed: int
) -> tuple[float, float]:
    """95 % bootstrap interval over queries."""
    rng = np.random.default_rng([seed, 13])
    picked = rng.integers(0, len(scores), (_RESAMPLES, len(scores)))
    ratios = 1 - scores[picked].sum(axis=1) / baseline[picked].sum(axis=1)
    low, high = np.quantile(np.clip(ratios, 0.0, best), [0.025, 0.975])
    return float(low), float(high)


def credited(worlds: float, *, low_on_worlds: float, high_on_runs: float, best: float) -> float:
    """The skill that counts: that on worlds, unless real runs show less than chance explains.

    Skill on worlds and the lower end of its interval, the upper end of the interval of the skill on
    real runs, and the most that anybody can reach. Above its own skill on worlds nothing that a
    submission knows of the real runs counts, in the mean or in the interval.
    """
    return min(worlds, high_on_runs + worlds - low_on_worlds, best)


def strain(answers: Array, outcomes: Array, *, noise: float) -> float:
    """Mean square error against the mean of the seeds, in units of what that mean itself varies.

    Without knowledge of the very runs its expectation is at least 1, whatever the forecast.
    """
    error: Array = answers[:, 0] - outcomes.mean(axis=1)
    return float((error**2).mean() / (noise**2 / outcomes.shape[1]))


def knowledge(strained: float, *, queries: int, seeds_known: int) -> float:
    """How probable a strain as small as this is for who has not seen the outcomes.

    The noise is known from `seeds_known` pairs only: it is taken at the lower end of its 99.9 %
    interval, which is in favour of the forecaster.
    """
    smaller = seeds_known / float(2 * gammaincinv(seeds_known / 2, 0.999))
    return chi2_below(queries * strained / smaller, queries)


def chi2_below(value: float, freedom: int) -> float:
    """P(chi-squared <= value)."""
    return float(gammainc(freedom / 2, max(0.0, value) / 2))
