"""Statistics in plain Python against scipy, enumeration and the textbook."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from unhack.core.statistics import (
    EXACT_UP_TO,
    Alternative,
    exact_sign_flip,
    holm,
    min_p,
    student_t,
    wilson,
)

ALTERNATIVES: tuple[Alternative, ...] = ("greater", "less", "two-sided")
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
    @pytest.mark.slow
    @given(st.lists(rates, min_size=1, max_size=8), st.sampled_from(ALTERNATIVES))
    def test_it_counts_as_enumeration_does(self, differences: list[float], side: Any) -> None:
        p = exact_sign_flip(differences, alternative=side)
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
        ours = exact_sign_flip(differences.tolist(), alternative=side)
        # scipy doubles the smaller tail; the null is symmetric, so both agree.
        assert ours == pytest.approx(theirs.pvalue, abs=1e-12)

    @pytest.mark.slow
    def test_forty_pairs_are_still_counted_one_by_one(self) -> None:
        values = [math.sqrt(place) for place in range(1, EXACT_UP_TO + 1)]
        assert exact_sign_flip(values, alternative="greater") == 2.0**-EXACT_UP_TO
        assert exact_sign_flip([*values, 1.0], alternative="greater") is None

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
        p = exact_sign_flip([item / 400 for item in whole], alternative=side)
        assert p == pytest.approx(wanted / 2**count, rel=1e-12)

    @pytest.mark.parametrize("side", ALTERNATIVES)
    def test_opposite_and_equal_pairs_say_nothing(self, side: Any) -> None:
        few = [0.25, -0.25] * 5 + [0.0] * 3
        assert exact_sign_flip([0.25, -0.25] * 25 + [0.0] * 3, alternative=side) >= 0.5
        assert exact_sign_flip([0.0] * 50, alternative=side) == 1.0
        many = exact_sign_flip([*few, *[0.0] * 40], alternative=side)
        assert many == pytest.approx(exact_sign_flip(few, alternative=side))

    def test_no_pairs_are_refused(self) -> None:
        with pytest.raises(ValueError, match="no pairs"):
            exact_sign_flip([], alternative="greater")

    @pytest.mark.parametrize(
        ("count", "side", "p"), [(8, "greater", 1 / 256), (8, "two-sided", 1 / 128)]
    )
    def test_the_least_p_is_that_of_unanimous_pairs(self, count: int, side: Any, p: float) -> None:
        assert min_p(count, alternative=side) == p
        values = [0.1 + place / 50 for place in range(count)]
        assert exact_sign_flip(values, alternative=side) == p


class TestHolm:
    def test_it_is_that_of_the_textbook(self) -> None:
        found = holm({"a": 0.01, "b": 0.04, "c": 0.03, "d": 0.005})
        assert found == pytest.approx({"a": 0.03, "b": 0.06, "c": 0.06, "d": 0.02})

    @pytest.mark.slow
    @given(st.dictionaries(st.text(max_size=3), st.floats(0, 1), max_size=6))
    def test_it_never_lowers_a_p_nor_changes_the_order(self, values: dict[str, float]) -> None:
        found = holm(values)
        assert list(found) == list(values)
        assert all(values[name] <= found[name] <= 1 for name in values)
        ordered = sorted(values, key=lambda name: values[name])
        assert [found[name] for name in ordered] == sorted(found.values())


class TestTheScoreInterval:
    @pytest.mark.parametrize(("hits", "of"), [(0, 40), (3, 40), (40, 40), (61, 119)])
    def test_the_score_interval_is_that_of_scipy(self, hits: int, of: int) -> None:
        theirs = stats.binomtest(hits, of).proportion_ci(method="wilson")
        assert wilson(hits, of) == pytest.approx((theirs.low, theirs.high), abs=1e-12)

    def test_nothing_tells_nothing(self) -> None:
        assert wilson(0, 0) == (0.0, 1.0)


@pytest.mark.parametrize("freedom", [1, 2, 3, 5, 10, 60])
def test_students_quantile_is_that_of_scipy_to_one_percent(freedom: int) -> None:
    assert student_t(freedom) == pytest.approx(float(stats.t.ppf(0.975, freedom)), rel=0.01)
