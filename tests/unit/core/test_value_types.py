from __future__ import annotations

import array
import collections
import datetime as dt
import types
from decimal import Decimal
from fractions import Fraction
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unhack.core import plain, value_types

VALUES: list[Any] = [
    collections.Counter("abca"),
    collections.Counter({(1, 2): 3, "x": -1}),
    collections.OrderedDict(b=1, a=[2]),
    collections.defaultdict(list, {1: [2]}),
    collections.deque([1, (2,), "x"], maxlen=5),
    collections.UserDict({1: 2}),
    collections.UserList([1, [2]]),
    collections.UserString("text"),
    types.SimpleNamespace(a=1, b=[2]),
    Decimal("1.50"),
    Decimal("-Infinity"),
    Fraction(-3, 4),
    dt.date(2020, 2, 29),
    dt.time(23, 59, 58, 7),
    dt.time(1, 2, tzinfo=dt.timezone(dt.timedelta(hours=-3))),
    dt.datetime(2020, 1, 2, 3, 4, 5, 6),
    dt.datetime(2020, 1, 2, tzinfo=dt.UTC),
    dt.timedelta(days=-1, microseconds=5),
    dt.timezone(dt.timedelta(minutes=90)),
    array.array("d", [1.5, 2.0]),
    range(10, 0, -3),
    range(10**30),
    bytearray(b"ab"),
    memoryview(b"ab"),
    {1: [2]}.keys(),
    {1: [2]}.items(),
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
class TestCarried:
    def test_it_arrives_with_its_type_and_value(self, value: Any) -> None:
        arrived = plain.loads(plain.dumps(value))
        assert type(arrived) is type(value)
        assert arrived == value

    def test_it_arrives_inside_other_values(self, value: Any) -> None:
        [arrived] = plain.loads(plain.dumps([{"a": (value,)}]))
        assert type(arrived["a"][0]) is type(value)
        assert arrived["a"][0] == value


@pytest.mark.parametrize("value", [dt.date(2020, 1, 1), Decimal(2), Fraction(1, 2), range(3)])
def test_it_arrives_as_a_key(value: Any) -> None:
    assert plain.loads(plain.dumps({value: 1})) == {value: 1}


def test_a_factory_that_is_no_builtin_does_not_cross() -> None:
    arrived = plain.loads(plain.dumps(collections.defaultdict(lambda: 1, {"a": 2})))
    assert type(arrived) is collections.defaultdict
    assert arrived.default_factory is None


@pytest.mark.parametrize(
    "value",
    [
        dt.datetime(2020, 1, 1, tzinfo=ZoneInfo("UTC")),
        {1: 2}.values(),
        memoryview(array.array("i", [1, 2])),
        Fraction(1, 2 ** (value_types.MAX_FRACTION_BITS + 1)),
        Decimal("1" * (value_types.MAX_DIGITS + 1)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_does_not_fit_is_opaque(value: Any) -> None:
    assert type(plain.loads(plain.dumps(value))) is plain.Opaque


def test_a_subclass_is_not_taken_for_its_base() -> None:
    class Counter(collections.Counter[str]):
        pass

    Counter.__module__, Counter.__qualname__ = "collections", "Counter"
    assert type(plain.loads(plain.dumps(Counter("a")))) is plain.AsBuiltin


_BAD = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 70) | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=2), inner),
    max_leaves=8,
)


@pytest.mark.slow
@given(st.sampled_from(sorted(value_types.NAMES)), _BAD)
def test_anything_malformed_is_refused_in_one_way(name: str, data: Any) -> None:
    try:
        plain.decode_tags({"$std": [name, data]})
    except plain.PlainDataError:
        return


@pytest.mark.parametrize(
    "data", [[], ["os.system", "x"], ["decimal.Decimal"], {"a": 1}, [["x"], 1], "text", None]
)
def test_a_type_that_is_not_listed_is_refused(data: Any) -> None:
    with pytest.raises(plain.PlainDataError):
        plain.decode_tags({"$std": data})


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("fractions.Fraction", [1, 0]),
        ("decimal.Decimal", "1E+2000000"),
        ("decimal.Decimal", "x"),
        ("range", [1, 2, 0]),
        ("datetime.date", [1, 2, 99]),
        ("datetime.timedelta", [10**12, 0, 0]),
        ("array.array", ["i", ["x"]]),
        ("collections.deque", [-1, []]),
        ("dict_keys", [[]]),
    ],
)
def test_a_value_that_the_type_refuses_is_refused(name: str, data: Any) -> None:
    with pytest.raises(plain.PlainDataError):
        plain.decode_tags({"$std": [name, data]})


def test_keys_made_to_collide_are_refused() -> None:
    keys = [index * (2**61 - 1) for index in range(200)]
    for name, data in (("dict_keys", keys), ("dict_items", [[key, 0] for key in keys])):
        with pytest.raises(plain.PlainDataError, match="collide"):
            plain.decode_tags({"$std": [name, data]})
