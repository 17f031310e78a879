"""Conditions on results: Python's meaning on plain data, and never an exception."""

from __future__ import annotations

import math
import operator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unhack.core.plain import AsBuiltin, Opaque
from unhack.tasks.loaders.predicates import VIEWS, AllClose, Compared, Near, PolynomialZero

SMALL = (
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats(-3, 3) | st.text("ab", max_size=2)
)
PLAIN = SMALL | st.lists(SMALL, max_size=3) | st.lists(SMALL, max_size=3).map(tuple)
ANYTHING = (
    PLAIN | st.dictionaries(st.text(max_size=2), SMALL, max_size=2)
    | st.just(Opaque("m.T")) | st.just(AsBuiltin("m.Int", 3)) | st.just(10**400)
    | st.just(complex(1, 2)) | st.just(math.nan)
)  # fmt: skip
PYTHON = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@given(PLAIN, PLAIN, st.sampled_from(sorted(PYTHON)))
def test_a_comparison_says_what_python_says(output: Any, value: Any, symbol: str):
    try:
        truth = bool(PYTHON[symbol](output, value))
    except TypeError:
        truth = False
    assert Compared(symbol, value)(output) is truth


@given(PLAIN, st.sampled_from(["tuple", "list", "sorted", "len", "bool"]))
def test_a_view_is_the_builtin_of_that_name(output: Any, view: str):
    try:
        seen = VIEWS[view](output)
    except TypeError:
        assert not Compared("==", [], view=view)(output)
    else:
        assert Compared("==", seen, view=view)(output)


@pytest.mark.slow
@given(st.lists(st.integers(0, 5)), st.sets(st.integers(0, 5)))
def test_a_set_view_compares_as_sets(output: list[int], value: set[int]):
    assert Compared("==", value, view="set")(output) == (set(output) == value)


@given(ANYTHING, PLAIN)
def test_no_result_makes_a_predicate_raise(output: Any, value: Any):
    for symbol in ("==", "!=", "<", "is"):
        for view in VIEWS:
            if view not in {"set", "frozenset"} or symbol == "==":
                assert Compared(symbol, value, view=view)(output) in (True, False)
    assert Near(0.5, abs_tol=1.0)(output) in (True, False)
    assert Near(0.5, abs_tol=0.0, rel_tol=0.1)(output) in (True, False)
    assert AllClose(value, 0.5)(output) in (True, False)
    assert PolynomialZero((1, 2), 0.1)(output) in (True, False)


def test_a_set_view_stops_at_values_made_to_collide():
    colliding = [number * (2**61 - 1) for number in range(1, 60_000)]
    assert not Compared("==", {1, 2}, view="set")(colliding)


def test_identity_with_a_singleton_is_a_matter_of_type():
    assert Compared("is", True)(True)
    assert not Compared("is", True)(1)
    assert not Compared("is", True)(AsBuiltin("numpy.bool", True))
    assert Compared("is", None)(None)
    assert not Compared("is", None)(False)


def test_an_object_that_is_not_data_equals_nothing():
    assert not Compared("==", "x")(Opaque("x"))
    assert not Compared("in", (1, 2))(Opaque("x"))
    assert not Near(0, abs_tol=1)(Opaque("x"))


@given(st.floats(-2, 2), st.floats(-2, 2))
def test_near_is_the_distance_within_its_bound(output: float, value: float):
    distance = abs(output - value)
    assert Near(value, abs_tol=0.5)(output) == (distance <= 0.5)
    assert Near(value, abs_tol=0.5, inclusive=False)(output) == (distance < 0.5)
    assert Near(value, abs_tol=0.1, rel_tol=0.2)(output) == math.isclose(
        output, value, rel_tol=0.2, abs_tol=0.1
    )


def test_nothing_is_near_nan_or_to_an_integer_beyond_floats():
    assert not Near(math.nan, abs_tol=1e9)(math.nan)
    assert not Near(0.5, abs_tol=1e9)(10**400)


@pytest.mark.parametrize(
    ("value", "abs_tol", "output", "accepted"),
    [
        (1.0, 0.0, 1.0000005, True),
        (1.0, 0.0, 1.01, False),
        ([1.0, 2.0], 0.0, [1.0, 2.0000001], True),
        ([1.0, 2.0], 0.0, (1.0, 2.0000001), False),
        ([1.0, 2.0], 0.0, [1.0], False),
        (3, 0.0, 3.0, True),
        (3, 0.0, 3.0000001, False),
        ("a", 0.5, "b", False),
        ([[0.5]], 0.01, [[0.505]], True),
    ],
)
def test_all_close_forgives_floats_only(value: Any, abs_tol: float, output: Any, accepted: bool):
    assert AllClose(value, abs_tol)(output) is accepted


def test_a_zero_of_a_polynomial_is_any_of_its_zeros():
    zero = PolynomialZero((-6, 5, -1), 1e-6)
    assert zero(2)
    assert zero(3.0)
    assert not zero(2.5)
    assert not zero("2")
