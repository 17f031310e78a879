from __future__ import annotations

import collections
import enum
import json
import math
import operator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unhack.core import plain

_HASHABLE_LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(min_value=-(1 << 5000), max_value=1 << 5000)
    | st.floats()
    | st.text(st.characters(exclude_categories=()), max_size=8)
    | st.sampled_from(["$tuple", "$", "$int", "$as", "$opaque", "$nonsense"])
    | st.binary(max_size=8)
    | st.complex_numbers()
)
_HASHABLE = st.recursive(
    _HASHABLE_LEAVES,
    lambda inner: st.lists(inner, max_size=3).map(tuple) | st.frozensets(inner, max_size=3),
    max_leaves=6,
)
VALUES = st.recursive(
    _HASHABLE_LEAVES | _HASHABLE,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.sets(_HASHABLE, max_size=4)
        | st.dictionaries(_HASHABLE, inner, max_size=4)
        | st.dictionaries(st.text(max_size=4), inner, max_size=4)
    ),
    max_leaves=20,
)


def fingerprint(value: Any) -> Any:
    """A text that two values share exactly when types and values agree, the order of sets aside."""
    if isinstance(value, (list, tuple)):
        return [type(value).__name__, *map(fingerprint, value)]
    if isinstance(value, (set, frozenset)):
        return [type(value).__name__, *sorted(map(repr, map(fingerprint, value)))]
    if isinstance(value, dict):
        return ["dict", *((fingerprint(key), fingerprint(item)) for key, item in value.items())]
    return [type(value).__name__, repr(value)]


class TestRoundTrip:
    @pytest.mark.slow
    @given(VALUES)
    @settings(max_examples=300)
    def test_every_nested_builtin_arrives_with_its_types_and_values(self, value: Any) -> None:
        text = plain.dumps(value)
        assert fingerprint(plain.loads(text)) == fingerprint(value)
        assert fingerprint(plain.loads(text.encode())) == fingerprint(value)

    @pytest.mark.slow
    @given(VALUES)
    def test_the_text_is_one_line_of_strict_json(self, value: Any) -> None:
        text = plain.dumps(value)
        assert "\n" not in text

        def refuse(name: str) -> None:
            raise AssertionError(f"bare {name}")

        json.loads(text, parse_constant=refuse)

    @pytest.mark.parametrize(
        "value",
        [
            (),
            (1, [2, (3,)]),
            {1, 2.5, "x", (1, 2), frozenset({3})},
            frozenset({None, True}),
            b"\x00\xff",
            10**500,
            -(10**500),
            2**1024,
            2**1024 - 1,
            math.inf,
            -math.inf,
            -0.0,
            5e-324,
            "\ud800 lone",
            "line\u2028separator\n",
            {1: "a", "1": "b"},
            {"$tuple": [1]},
            {"$": 1, "x": 2},
            {None: 0, (1, 2): 1},
            complex(math.inf, -0.0),
        ],
        ids=lambda value: type(value).__name__,
    )
    def test_values_that_json_cannot_hold_arrive_unchanged(self, value: Any) -> None:
        assert fingerprint(plain.loads(plain.dumps(value))) == fingerprint(value)

    def test_nan_arrives_as_nan(self) -> None:
        assert math.isnan(plain.loads(plain.dumps(math.nan)))

    def test_one_and_true_and_one_point_zero_stay_apart(self) -> None:
        arrived = plain.loads(plain.dumps([1, True, 1.0]))
        assert [type(item) for item in arrived] == [int, bool, float]

    def test_a_dictionary_keeps_the_order_of_its_keys(self) -> None:
        assert list(plain.loads(plain.dumps({3: 0, 1: 0, 2: 0}))) == [3, 1, 2]

    def test_two_equal_sets_have_the_same_text(self) -> None:
        left, right = {8, 0}, {0, 8}
        assert plain.dumps(left) == plain.dumps(right)


class Colour(enum.IntEnum):
    RED = 3


class Liar:
    """Overrides everything that a reader might ask."""

    def __eq__(self, other: object) -> bool:
        return True

    def __len__(self) -> int:
        return 0

    def __iter__(self) -> Any:
        return iter(())

    def __getitem__(self, key: object) -> Any:
        return "lie"

    def __contains__(self, key: object) -> bool:
        return True

    def __str__(self) -> str:
        return "lie"

    def __int__(self) -> int:
        return 0

    def __index__(self) -> int:
        return 0

    def __float__(self) -> float:
        return 0.0

    def __bytes__(self) -> bytes:
        return b"lie"

    def __bool__(self) -> bool:
        return False

    def __neg__(self) -> Any:
        return "lie"

    def __add__(self, other: object) -> Any:
        return "lie"

    def __sub__(self, other: object) -> Any:
        return "lie"

    def __lt__(self, other: object) -> bool:
        return True

    def __gt__(self, other: object) -> bool:
        return True

    def items(self) -> Any:
        return [("lie", "lie")]

    def keys(self) -> Any:
        return ["lie"]

    def __reduce__(self) -> Any:
        raise AssertionError("nothing is pickled")

    @property
    def __class__(self) -> type:
        return str

    __hash__ = None  # type: ignore[assignment]


def _liar(base: type) -> type:
    return type(f"Lying{base.__name__.title()}", (Liar, base), {"__module__": "enemy"})


class TestSubclasses:
    @pytest.mark.parametrize(
        "value",
        [7, 10**400, 2.5, "text", [1, 2], (1, 2), {"k": 1}, {1: 2}, {1}, frozenset({1}), b"ab"],
        ids=repr,
    )
    def test_a_subclass_that_overrides_everything_is_lowered_by_its_base(self, value: Any) -> None:
        kind = type(value)
        lying = _liar(kind)(value)
        arrived = plain.loads(plain.dumps(lying))
        assert type(arrived) is plain.AsBuiltin
        assert arrived.type_name == f"enemy.Lying{kind.__name__.title()}"
        assert fingerprint(arrived.value) == fingerprint(value)

    def test_a_float_subclass_keeps_the_sign_of_zero(self) -> None:
        arrived = plain.loads(plain.dumps(type("F", (float,), {})(-0.0)))
        assert math.copysign(1.0, arrived.value) == -1.0

    def test_a_complex_subclass_is_lowered_to_a_complex(self) -> None:
        arrived = plain.loads(plain.dumps(type("Z", (complex,), {})(2j)))
        assert type(arrived) is plain.AsBuiltin
        assert arrived.value == 2j

    @pytest.mark.parametrize(
        ("value", "name", "inner"),
        [
            (Colour.RED, "Colour", 3),
            (collections.namedtuple("Point", "x y")(1, 2), "Point", (1, 2)),
        ],
        ids=lambda item: type(item).__name__,
    )
    def test_well_known_subclasses_name_their_type(self, value: Any, name: str, inner: Any) -> None:
        arrived = plain.loads(plain.dumps(value))
        assert arrived.type_name.endswith(name)
        assert fingerprint(arrived.value) == fingerprint(inner)

    def test_numpy_values_become_builtins_that_name_their_dtype(self) -> None:
        numpy = pytest.importorskip("numpy")
        arrived = plain.loads(plain.dumps([numpy.float64(1.5), numpy.arange(2), numpy.int8(3)]))
        assert [item.type_name for item in arrived] == [
            "numpy.float64",
            "numpy.int64",
            "numpy.int8",
        ]
        assert plain.to_builtins(arrived) == [1.5, [0, 1], 3]

    @pytest.mark.parametrize(
        "value",
        [object(), len, {}.values(), int, iter([]), ..., Liar()],
        ids=lambda v: type(v).__name__,
    )
    def test_what_is_not_data_becomes_opaque(self, value: Any) -> None:
        assert type(plain.loads(plain.dumps([value]))[0]) is plain.Opaque

    def test_an_opaque_value_equals_nothing_not_even_itself(self) -> None:
        opaque = plain.loads(plain.dumps(object()))
        assert operator.eq(opaque, opaque) is False
        assert opaque != plain.loads(plain.dumps(object()))

    def test_a_class_with_a_hostile_name_still_lowers(self) -> None:
        kind = type("X" * 1000, (int,), {"__module__": 5})
        arrived = plain.loads(plain.dumps(kind(4)))
        assert arrived.value == 4
        assert len(arrived.type_name) <= 200

    def test_stripping_leaves_only_builtins_at_every_level(self) -> None:
        value = [Colour.RED, {"k": (Colour.RED,)}, {Colour.RED: 1}, {Colour.RED}]
        stripped = plain.to_builtins(plain.loads(plain.dumps(value)))
        assert fingerprint(stripped) == fingerprint([3, {"k": (3,)}, {3: 1}, {3}])


def test_a_list_of_numbers_is_written_as_it_is_and_is_not_the_same_list() -> None:
    tokens = [3, 50_000, -7]
    written = plain.encode_tags({"ids": tokens})["ids"]
    assert written == tokens
    assert written is not tokens
    assert plain.encode_tags([1, True, 1 << 5000]) == [1, True, {"$int": hex(1 << 5000)}]
    assert plain.encode_tags([1, 1 << 5000]) == [1, {"$int": hex(1 << 5000)}]
