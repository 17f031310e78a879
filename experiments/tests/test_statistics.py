from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest
from scipy import stats

from unhack.core.statistics import EXACT_UP_TO, Alternative, exact_sign_flip
from unhack.training.evaluation.counts import summary
from unhack_study.statistics import bootstrap, paired, sign_flip

ALTERNATIVES: tuple[Alternative, ...] = ("greater", "less", "two-sided")


class TestTheSignFlipTest:
    @pytest.mark.parametrize("side", ALTERNATIVES)
    def test_many_means_of_three_rates_are_exact_and_near_what_is_drawn(self, side: Any) -> None:
        draw = random.Random(4)
        means = [sum(draw.randint(-60, 75) / 400 for _ in range(3)) / 3 for _ in range(60)]
        p, exact = sign_flip(means, alternative=side)
        drawn, counted = sign_flip([item + draw.gauss(0, 1e-6) for item in means], alternative=side)
        assert exact
        assert not counted
        assert p == pytest.approx(drawn, abs=0.005)

    def test_more_pairs_without_a_common_step_are_drawn_and_say_so(self) -> None:
        draw = random.Random(1)
        differences = [draw.gauss(0.1, 0.4) for _ in range(EXACT_UP_TO + 1)]
        p, exact = sign_flip(differences, alternative="greater")
        half = sign_flip(differences[:20], alternative="greater")[0]
        assert not exact
        assert 0 < p < 1
        assert p == sign_flip(differences, alternative="greater")[0]
        assert abs(p - half) < 0.5


class TestAPairedComparison:
    def test_it_holds_all_figures(self) -> None:
        first, second = [0.5, 0.6, 0.7, 0.6], [0.1, 0.3, 0.2, 0.15]
        found = paired(first, second, alternative="greater")
        assert found.mean == pytest.approx(0.4125)
        assert found.p == 1 / 16
        assert found.low <= found.mean <= found.high
        assert found.wilcoxon == pytest.approx(
            stats.wilcoxon(first, second, alternative="greater").pvalue
        )

    @pytest.mark.parametrize("side", ALTERNATIVES)
    def test_wilcoxon_of_few_pairs_is_exact_with_ties_and_zeros_too(self, side: Any) -> None:
        first, second = [0.5, 0.6, 0.7, 0.6, 0.3, 0.2], [0.4, 0.5, 0.9, 0.6, 0.0, 0.05]
        signed_ranks = [1.5, 1.5, -4.0, 5.0, 3.0]
        found = paired(first, second, alternative=side)
        assert found.wilcoxon == pytest.approx(exact_sign_flip(signed_ranks, alternative=side))

    @pytest.mark.parametrize("side", ALTERNATIVES)
    @pytest.mark.parametrize("count", [7, 20, 50, 80])
    def test_wilcoxon_is_that_of_scipy(self, side: Any, count: int) -> None:
        differences = np.random.default_rng(count).normal(0.1, 0.4, count).round(6).tolist()
        found = paired(differences, [0.0] * count, alternative=side)
        assert found.wilcoxon == pytest.approx(stats.wilcoxon(differences, alternative=side).pvalue)

    @pytest.mark.slow
    @pytest.mark.parametrize("side", ALTERNATIVES)
    def test_wilcoxon_with_ties_is_scipys_count_of_all_patterns(self, side: Any) -> None:
        differences = [0.1, 0.1, -0.1, 0.3, 0.3, -0.5, 0.7, 0.3, 0.2, 0.2]
        found = paired(differences, [0.0] * 10, alternative=side)
        told = stats.wilcoxon(differences, alternative=side, method=stats.PermutationMethod())
        assert found.wilcoxon == pytest.approx(told.pvalue)

    def test_equal_values_have_no_wilcoxon(self) -> None:
        found = paired([0.5, 0.5], [0.5, 0.5], alternative="greater")
        assert (found.p, found.wilcoxon) == (1.0, None)

    def test_unequal_lengths_are_refused(self) -> None:
        with pytest.raises(ValueError):
            paired([0.1, 0.2], [0.1], alternative="greater")


class TestSummaries:
    def test_the_standard_error_is_that_of_scipy(self) -> None:
        values = [0.1, 0.5, 0.2, 0.9]
        found = summary(values)
        assert found.mean == pytest.approx(np.mean(values))
        assert found.sem == pytest.approx(float(stats.sem(values)))

    def test_one_run_has_no_standard_error(self) -> None:
        assert summary([0.3]).sem is None

    @pytest.mark.slow
    def test_the_bootstrap_covers_the_mean_about_as_often_as_it_says(self) -> None:
        draw = np.random.default_rng(0)
        inside = 0
        for trial in range(200):
            low, high = bootstrap(draw.normal(0.5, 0.1, 30).tolist(), draws=400, seed=trial)
            inside += low <= 0.5 <= high
        assert 0.88 <= inside / 200 <= 0.99

    def test_one_value_has_no_interval(self) -> None:
        with pytest.raises(ValueError, match="two values"):
            bootstrap([0.25])
        only = paired([0.5], [0.25], alternative="greater")
        assert (only.mean, only.low, only.high) == (0.25, None, None)
        assert math.isclose(sum(bootstrap([0.1, 0.1])), 0.2)
