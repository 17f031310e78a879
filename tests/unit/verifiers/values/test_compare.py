from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unhack.core import plain
from unhack.verifiers.values.compare import Compare, closely, equally, exactly, matches, unordered

NAN, INF = math.nan, math.inf
HASHABLE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3).map(tuple) | st.frozensets(inner, max_size=3),
    max_leaves=5,
)
VALUES = st.recursive(
    HASHABLE | st.binary(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(HASHABLE, inner, max_size=3)
        | st.sets(HASHABLE, max_size=3)
    ),
    max_leaves=12,
)


def crossed(value: Any) -> Any:
    """The value as it arrives from a candidate."""
    return plain.loads(plain.dumps(value))


def near(left: Any, right: Any, tolerance: float = 1e-9) -> bool:
    return closely(left, right, rel_tol=tolerance, abs_tol=tolerance)


class TestExact:
    @pytest.mark.slow
    @given(VALUES)
    def test_a_value_that_crossed_the_border_equals_itself(self, value: Any) -> None:
        assert exactly(crossed(value), value)

    @pytest.mark.slow
    @given(VALUES, VALUES)
    def test_it_is_symmetric_and_implies_equality(self, left: Any, right: Any) -> None:
        assert exactly(left, right) is exactly(right, left)
        assert not exactly(left, right) or left == right

    @pytest.mark.parametrize(
        ("left", "right"),
        [
            (1, True),
            (0, False),
            (1, 1.0),
            (1.0, True),
            (1 + 0j, 1.0),
            ("1", 1),
            (b"x", "x"),
            ((1, 2), [1, 2]),
            ([], ()),
            ({1}, frozenset({1})),
            ([1, (2,)], [1, [2]]),
            ({"a": 1}, {"a": True}),
            ({1: 0}, {True: 0}),
            ({1: 0}, {1.0: 0}),
            ({1, 2}, {1.0, 2}),
            ([None], [0]),
            ([1], [1, 1]),
            ({"a": 1}, {"a": 1, "b": 2}),
            (NAN, NAN),
            ([NAN], [NAN]),
            (2**53 + 1, float(2**53)),
        ],
        ids=repr,
    )
    def test_a_different_type_or_value_is_not_the_same(self, left: Any, right: Any) -> None:
        assert not exactly(left, right)
        assert not exactly(right, left)

    @pytest.mark.parametrize(
        ("left", "right"),
        [
            ({1, 2.0}, {1.0, 2}),
            ({(1,)}, {(1.0,)}),
            ({frozenset({1})}, {frozenset({True})}),
            ({(1,): "x"}, {(True,): "x"}),
            (frozenset({(0, "a")}), frozenset({(False, "a")})),
        ],
        ids=repr,
    )
    def test_types_count_inside_sets_and_keys_too(self, left: Any, right: Any) -> None:
        assert not exactly(left, right)

    def test_both_zeros_are_the_same_value(self) -> None:
        assert exactly(-0.0, 0.0)
        assert exactly([0.0], [-0.0])

    def test_the_order_of_a_dictionary_does_not_count(self) -> None:
        assert exactly({"a": 1, "b": 2}, {"b": 2, "a": 1})

    def test_a_subclass_value_is_not_its_builtin(self) -> None:
        assert not exactly(crossed(type("Mine", (int,), {})(1)), 1)
        assert not exactly([crossed(bytearray(b"x"))], [b"x"])

    def test_an_opaque_value_matches_nothing(self) -> None:
        opaque = crossed(object())
        assert not exactly(opaque, opaque)
        assert not exactly([opaque], [None])

    def test_a_large_dictionary_is_compared_in_linear_steps(self) -> None:
        size = 60_000
        assert exactly(dict.fromkeys(range(size), 0), dict.fromkeys(range(size), 0))


class TestEqual:
    @pytest.mark.slow
    @given(VALUES)
    def test_a_value_that_crossed_the_border_equals_itself(self, value: Any) -> None:
        assert equally(crossed(value), value)

    @pytest.mark.parametrize(
        ("left", "right"),
        [(1, True), (1, 1.0), (0.0, -0.0), ({1: 0}, {True: 0}), ({1.0}, {1}), ([1], [1.0])],
        ids=repr,
    )
    def test_numbers_compare_across_types(self, left: Any, right: Any) -> None:
        assert equally(left, right)

    @pytest.mark.parametrize(
        ("left", "right"),
        [
            ((1,), [1]),
            (NAN, NAN),
            ("1", 1),
            (10**400, INF),
            (2**53 + 1, float(2**53)),
            ([1, 2], [2, 1]),
            (None, 0),
        ],
        ids=repr,
    )
    def test_what_python_calls_different_is_different(self, left: Any, right: Any) -> None:
        assert not equally(left, right)

    def test_a_subclass_counts_as_its_builtin(self) -> None:
        mine = type("Mine", (int,), {})
        assert equally(crossed(mine(3)), 3)
        assert equally(crossed([mine(3), {"k": (mine(4),)}]), [3, {"k": (4,)}])

    def test_a_subclass_in_a_set_or_a_key_counts_as_its_builtin(self) -> None:
        mine = type("Mine", (int,), {})
        assert equally(crossed({mine(3)}), {3})
        assert equally(crossed({mine(3): 1}), {3: 1})

    def test_an_opaque_value_matches_nothing_however_deep(self) -> None:
        for value in (object(), [object()], {"k": (object(),)}):
            arrived = crossed(value)
            assert not equally(arrived, arrived)


class TestClose:
    @given(st.floats(-1e300, 1e300), st.floats(-0.9, 0.9))
    def test_a_difference_within_the_tolerance_passes(self, value: float, share: float) -> None:
        assert near(value * (1 + share * 1e-9), value)

    @given(st.floats(1e-3, 1e300), st.sampled_from([-1, 1]))
    def test_a_difference_beyond_both_tolerances_fails(self, value: float, sign: int) -> None:
        assert not near(value * (1 + sign * 1e-5), value)

    def test_near_zero_the_absolute_tolerance_decides(self) -> None:
        assert closely(1e-10, 0.0, rel_tol=1e-9, abs_tol=1e-9)
        assert not closely(1e-8, 0.0, rel_tol=1e-9, abs_tol=1e-9)
        assert not closely(1e-300, 0.0, rel_tol=0.5, abs_tol=0.0)

    @pytest.mark.parametrize(
        ("left", "right", "same"),
        [
            (NAN, NAN, True),
            (1.0, NAN, False),
            (NAN, 1.0, False),
            (INF, INF, True),
            (-INF, INF, False),
            (1e308, INF, False),
            (INF, 1e308, False),
            (True, 1.0, False),
            (1.0, True, False),
            (True, True, True),
            (1, 1.0, True),
            (10**400, 10**400, True),
            (10**400, 10**400 + 1, False),
            (10**400, INF, False),
            (10**400, 1.0, False),
            (10**400, NAN, False),
            ("1.0", 1.0, False),
            (None, 0.0, False),
            ([1.0], (1.0,), False),
            ([1.0, 2.0], [1.0], False),
            ({"a": 1.0}, {"a": 1.0 + 1e-12}, True),
            ({"a": 1.0}, {"b": 1.0}, False),
            ([[NAN]], [[NAN]], True),
            (1 + 1e-12j, 1 + 0j, True),
            (1.0, 1 + 0j, True),
            (1 + 1j, 1.0, False),
            ("text", "text", True),
            ({1.0}, {1.0}, True),
        ],
        ids=repr,
    )
    def test_the_rules_hold(self, left: Any, right: Any, same: bool) -> None:
        assert near(left, right) is same

    def test_a_huge_integer_is_not_close_to_a_complex_number(self) -> None:
        assert not near(10**400, 1j)

    def test_a_subclass_counts_as_its_builtin(self) -> None:
        mine = type("Mine", (float,), {})
        assert near(crossed([mine(1.5)]), [1.5])

    def test_numpy_floats_count_as_floats(self) -> None:
        numpy = pytest.importorskip("numpy")
        assert near(crossed(numpy.float32(0.1)), 0.1, tolerance=1e-6)
        assert near(crossed(numpy.array([0.5, 1.5])), [0.5, 1.5])
        assert near(crossed(numpy.bool_(True)), True)


class TestUnordered:
    @pytest.mark.slow
    @given(st.lists(VALUES, max_size=5), st.randoms(use_true_random=False))
    def test_any_order_of_the_same_values_matches(self, values: list[Any], rng: Any) -> None:
        shuffled = list(values)
        rng.shuffle(shuffled)
        assert unordered(crossed(shuffled), values)
        assert unordered(crossed(tuple(shuffled)), tuple(values))

    @pytest.mark.parametrize(
        ("left", "right"),
        [
            ([1, 1, 2], [1, 2, 2]),
            ([1], [1, 1]),
            ([1, 2], (1, 2)),
            ([True], [1]),
            ([1.0], [1]),
            ([[1, 2]], [[2, 1]]),
            ([(1,)], [[1]]),
        ],
        ids=repr,
    )
    def test_counts_types_and_inner_order_matter(self, left: Any, right: Any) -> None:
        assert not unordered(left, right)

    def test_only_the_outer_sequence_is_free(self) -> None:
        assert unordered([(1, 2), (3, 4)], [(3, 4), (1, 2)])
        assert not unordered([(2, 1)], [(1, 2)])

    def test_what_is_no_sequence_is_compared_exactly(self) -> None:
        assert unordered({"a": 1}, {"a": 1})
        assert not unordered({"a": 1}, {"a": 1.0})
        assert not unordered("ab", "ba")

    def test_subclass_and_opaque_values_match_nothing(self) -> None:
        mine = type("Mine", (int,), {})
        assert not unordered(crossed([mine(1)]), [1])
        assert not unordered(crossed([object()]), crossed([object()]))

    def test_members_are_compared_as_exactly_does(self) -> None:
        for left, right in (
            ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
            (-0.0, 0.0),
            (NAN, NAN),
            ((NAN,), (NAN,)),
        ):
            assert unordered([left], [right]) is exactly(left, right)

    def test_an_answer_nested_beyond_the_limit_is_just_wrong(self) -> None:
        deep = plain.loads("[" * 150 + "]" * 150)
        assert not unordered(deep, [1])


class TestMatches:
    def test_each_comparison_is_reached_by_its_name(self) -> None:
        assert not matches(1.0, 1, compare=Compare.EXACT)
        assert matches(1.0, 1, compare=Compare.EQUAL)
        assert matches(1.0 + 1e-12, 1, compare=Compare.FLOAT)
        assert matches([2, 1], [1, 2], compare=Compare.UNORDERED)

    def test_tolerances_are_passed_on(self) -> None:
        assert matches(1.05, 1.0, compare=Compare.FLOAT, rel_tol=0.1)
        assert not matches(1.05, 1.0, compare=Compare.FLOAT, rel_tol=0.01)
        assert matches(0.05, 0.0, compare=Compare.FLOAT, abs_tol=0.1)


class TestCollisions:
    """Values made to share one hash take no more comparisons than others."""

    @pytest.mark.parametrize("size", [200, 2_000])
    def test_a_multiset_compares_no_two_values(
        self, monkeypatch: pytest.MonkeyPatch, size: int
    ) -> None:
        asked: list[object] = []
        monkeypatch.setattr(Fraction, "__eq__", lambda one, _: asked.append(one) or False)
        values = [Fraction(number * (2**61 - 1)) for number in range(size)]
        assert unordered(values, values[::-1])
        assert not unordered(values, [*values[1:], Fraction(1, 3)])
        assert asked == []

    def test_keys_that_collide_once_lowered_are_refused_at_the_border(self) -> None:
        keys = [{"$as": [f"a{number}", number * (2**61 - 1)]} for number in range(100)]
        for encoded in ({"$set": keys}, {"$dict": [[key, 0] for key in keys]},
                        {"$set": [{"$tuple": [key]} for key in keys]}):  # fmt: skip
            with pytest.raises(plain.PlainDataError, match="collide"):
                plain.decode_tags(encoded)
