from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from unhack.training.evaluation.statistics import (
    EXACT_UP_TO,
    bootstrap,
    holm,
    least_p,
    paired,
    sign_flip,
    summary,
    wilson,
)

ALTERNATIVES: tuple[Literal["greater", "less", "two-sided"], ...] = ("greater", "less", "two-sided")
rates = st.integers(-20, 20).map(lambda value: value / 20)


def _by_hand(differences: list[float], alternative: str) -> float:
    """Every sign pattern, in whole numbers so that ties are exact."""
    whole = [round(value * 20) for value in differences]
    seen = sum(whole)
    hits = total = 0
    for signs in itertools.product((1, -1), repeat=len(whole)):
        value = sum(sign * item for sign, item in zip(signs, whole, strict=True))
        total += 1
        hits += {
            "greater": value >= seen,
            "less": value <= seen,
            "two-sided": abs(value) >= abs(seen),
        }[alternative]
    return hits / total


class TestTheSignFlipTest:
    @given(st.lists(rates, min_size=1, max_size=8), st.sampled_from(ALTERNATIVES))
    def test_it_counts_as_enumeration_does(self, differences: list[float], side: Any) -> None:
        p, exact = sign_flip(differences, alternative=side)
        assert exact
        assert p == _by_hand(differences, side)

    @pytest.mark.parametrize("side", ALTERNATIVES)
    @pytest.mark.parametrize("seed", range(3))
    def test_it_is_that_of_scipy(self, side: Any, seed: int) -> None:
        draw = np.random.default_rng(seed)
        differences = draw.normal(0.2, 0.5, 9)
        theirs = stats.permutation_test(
            (differences,),
            lambda values, axis: np.mean(values, axis=axis),
            permutation_type="samples",
            alternative=side,
            n_resamples=np.inf,
            vectorized=True,
        )
        ours, _ = sign_flip(differences.tolist(), alternative=side)
        # scipy doubles the smaller tail; the null is symmetric, so both agree.
        assert ours == pytest.approx(theirs.pvalue, abs=1e-12)

    def test_forty_pairs_are_still_counted_one_by_one(self) -> None:
        p, exact = sign_flip([0.1] * EXACT_UP_TO, alternative="greater")
        assert exact
        assert p == 2.0**-EXACT_UP_TO

    @pytest.mark.parametrize("count", [36, EXACT_UP_TO + 26])
    @pytest.mark.parametrize("side", ALTERNATIVES)
    def test_pairs_with_ties_count_as_a_table_of_sums_does(self, side: Any, count: int) -> None:
        draw = random.Random(2)
        whole = [draw.randint(-30, 40) for _ in range(count)]
        sums = Counter({0: 1})
        for item in whole:
            longer = Counter[int]()
            for total, ways in sums.items():
                longer[total + item] += ways
                longer[total - item] += ways
            sums = longer
        seen = sum(whole)
        wanted = sum(
            ways
            for total, ways in sums.items()
            if {
                "greater": total >= seen,
                "less": total <= seen,
                "two-sided": abs(total) >= abs(seen),
            }[side]
        )
        p, exact = sign_flip([item / 400 for item in whole], alternative=side)
        assert exact
        assert p == pytest.approx(wanted / 2**count, rel=1e-12)

    @pytest.mark.parametrize("side", ALTERNATIVES)
    def test_many_means_of_three_rates_are_exact_and_near_what_is_drawn(self, side: Any) -> None:
        draw = random.Random(4)
        means = [sum(draw.randint(-60, 75) / 400 for _ in range(3)) / 3 for _ in range(60)]
        p, exact = sign_flip(means, alternative=side)
        drawn, counted = sign_flip([item + draw.gauss(0, 1e-6) for item in means], alternative=side)
        assert exact
        assert not counted
        assert p == pytest.approx(drawn, abs=0.005)

    @pytest.mark.parametrize("side", ALTERNATIVES)
    def test_opposite_and_equal_pairs_say_nothing(self, side: Any) -> None:
        few = [0.25, -0.25] * 5 + [0.0] * 3
        assert sign_flip([0.25, -0.25] * 25 + [0.0] * 3, alternative=side)[0] >= 0.5
        p, exact = sign_flip([0.0] * 50, alternative=side)
        assert (p, exact) == (1.0, True)
        many = sign_flip([*few, *[0.0] * 40], alternative=side)
        assert many[0] == pytest.approx(sign_flip(few, alternative=side)[0])

    def test_more_pairs_without_a_common_step_are_drawn_and_say_so(self) -> None:
        draw = random.Random(1)
        differences = [draw.gauss(0.1, 0.4) for _ in range(EXACT_UP_TO + 1)]
        p, exact = sign_flip(differences, alternative="greater")
        half = sign_flip(differences[:20], alternative="greater")[0]
        assert not exact
        assert 0 < p < 1
        assert p == sign_flip(differences, alternative="greater")[0]
        assert abs(p - half) < 0.5

    def test_no_pairs_are_refused(self) -> None:
        with pytest.raises(ValueError, match="no pairs"):
            sign_flip([], alternative="greater")

    @pytest.mark.parametrize(
        ("count", "side", "p"), [(8, "greater", 1 / 256), (8, "two-sided", 1 / 128)]
    )
    def test_the_least_p_is_that_of_unanimous_pairs(self, count: int, side: Any, p: float) -> None:
        assert least_p(count, alternative=side) == p
        values = [0.1 + place / 50 for place in range(count)]
        assert sign_flip(values, alternative=side)[0] == p


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
    def test_wilcoxon_is_that_of_scipy_with_ties_and_zeros_too(self, side: Any) -> None:
        first, second = [0.5, 0.6, 0.7, 0.6, 0.3, 0.2], [0.4, 0.5, 0.9, 0.6, 0.0, 0.05]
        differences = np.round(np.subtract(first, second), 12)
        theirs = stats.wilcoxon(differences[differences != 0], alternative=side, method="auto")
        found = paired(first, second, alternative=side)
        assert found.wilcoxon == pytest.approx(theirs.pvalue)

    def test_equal_values_have_no_wilcoxon(self) -> None:
        found = paired([0.5, 0.5], [0.5, 0.5], alternative="greater")
        assert (found.p, found.wilcoxon) == (1.0, None)

    def test_unequal_lengths_are_refused(self) -> None:
        with pytest.raises(ValueError):
            paired([0.1, 0.2], [0.1], alternative="greater")


class TestHolm:
    def test_it_is_that_of_the_textbook(self) -> None:
        found = holm({"a": 0.01, "b": 0.04, "c": 0.03, "d": 0.005})
        assert found == pytest.approx({"a": 0.03, "b": 0.06, "c": 0.06, "d": 0.02})

    @given(st.dictionaries(st.text(max_size=3), st.floats(0, 1), max_size=6))
    def test_it_never_lowers_a_p_nor_changes_the_order(self, values: dict[str, float]) -> None:
        found = holm(values)
        assert list(found) == list(values)
        assert all(values[name] <= found[name] <= 1 for name in values)
        ordered = sorted(values, key=lambda name: values[name])
        assert [found[name] for name in ordered] == sorted(found.values())


class TestSummaries:
    def test_the_standard_error_is_that_of_scipy(self) -> None:
        values = [0.1, 0.5, 0.2, 0.9]
        found = summary(values)
        assert found.mean == pytest.approx(np.mean(values))
        assert found.sem == pytest.approx(float(stats.sem(values)))

    def test_one_run_has_no_standard_error(self) -> None:
        assert summary([0.3]).sem is None

    @pytest.mark.parametrize(("hits", "of"), [(0, 40), (3, 40), (40, 40), (61, 119)])
    def test_the_score_interval_is_that_of_scipy(self, hits: int, of: int) -> None:
        theirs = stats.binomtest(hits, of).proportion_ci(method="wilson")
        assert wilson(hits, of) == pytest.approx((theirs.low, theirs.high), abs=1e-12)

    def test_nothing_tells_nothing(self) -> None:
        assert wilson(0, 0) == (0.0, 1.0)

    def test_the_bootstrap_covers_the_mean_about_as_often_as_it_says(self) -> None:
        draw = np.random.default_rng(0)
        inside = 0
        for trial in range(200):
            low, high = bootstrap(draw.normal(0.5, 0.1, 30).tolist(), draws=400, seed=trial)
            inside += low <= 0.5 <= high
        assert 0.88 <= inside / 200 <= 0.99

    def test_a_bootstrap_of_one_value_is_that_value(self) -> None:
        assert bootstrap([0.25]) == (0.25, 0.25)
        assert math.isclose(sum(bootstrap([0.1, 0.1])), 0.2)
