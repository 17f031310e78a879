"""Bytes that are not plain data, values that nest too deeply, values of a megabyte."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unhack.core import plain

_TAGS = [
    "$tuple",
    "$set",
    "$frozenset",
    "$bytes",
    "$float",
    "$int",
    "$complex",
    "$dict",
    "$as",
    "$opaque",
]


def _error(data: str | bytes) -> type[Exception] | None:
    """The kind of error that reading raises; None where it gives a value."""
    try:
        plain.loads(data)
    except Exception as error:
        return type(error)
    return None


class TestMalformedInput:
    @pytest.mark.slow
    @given(st.binary(max_size=200))
    @settings(max_examples=300)
    def test_arbitrary_bytes_fail_only_with_plain_data_errors(self, data: bytes) -> None:
        assert _error(data) in {None, plain.PlainDataError}

    _JSON = st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from([*_TAGS, "$other", "plain", "$"]),
                inner,
                max_size=2,
            )
        ),
        max_leaves=15,
    )

    @pytest.mark.slow
    @given(_JSON)
    @settings(max_examples=400)
    def test_json_with_misused_tags_fails_only_with_plain_data_errors(self, value: Any) -> None:
        assert _error(json.dumps(value)) in {None, plain.PlainDataError}

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "{",
            "NaN",
            "[Infinity]",
            "[-Infinity]",
            '{"$nothing": 1}',
            '{"$tuple": 1}',
            '{"$tuple": [], "x": 1}',
            '{"$set": [[]]}',
            '{"$bytes": "é"}',
            '{"$bytes": 3}',
            '{"$float": "1.0"}',
            '{"$float": []}',
            '{"$int": 5}',
            '{"$int": "zz"}',
            '{"$complex": [1, 2]}',
            '{"$complex": [1.0]}',
            '{"$dict": [[1]]}',
            '{"$dict": [[[], 1]]}',
            '{"$dict": 7}',
            '{"$as": [1, 2]}',
            '{"$as": ["x"]}',
            '{"$opaque": 1}',
            "1" * 5000,
            "[" * 100_000,
            '{"a":' * 100_000,
            b"\xff\xfe\x00",
        ],
        ids=lambda text: repr(text)[:30],
    )
    def test_malformed_text_is_refused(self, text: str | bytes) -> None:
        with pytest.raises(plain.PlainDataError):
            plain.loads(text)

    def test_an_integer_beyond_the_limit_is_refused(self) -> None:
        fits = (1 << plain.MAX_INT_BITS - 16) - 1
        assert plain.loads(plain.dumps(fits)) == fits
        with pytest.raises(plain.PlainDataError, match="integer too large"):
            plain.loads(json.dumps({"$int": "0x" + "f" * (plain.MAX_INT_BITS // 4)}))

    @pytest.mark.parametrize("tag", ["$set", "$frozenset"])
    def test_integers_made_to_collide_are_refused(self, tag: str) -> None:
        prime = (1 << 61) - 1
        same_hash = [7 + prime * factor for factor in range(5000)]
        honest = list(range(100, 100 + 6000))
        assert len(set(map(hash, same_hash))) == 1
        assert len(plain.loads(json.dumps({tag: honest}))) == 6000
        for items in (same_hash, honest + same_hash):
            with pytest.raises(plain.PlainDataError, match="collide"):
                plain.loads(json.dumps({tag: items}))

    def test_dictionary_keys_made_to_collide_are_refused(self) -> None:
        prime = (1 << 61) - 1
        pairs = [[7 + prime * factor, 0] for factor in range(5000)]
        pairs += [[number, 0] for number in range(100, 6100)]
        with pytest.raises(plain.PlainDataError, match="collide"):
            plain.loads(json.dumps({"$dict": pairs}))

    def test_many_honest_keys_are_accepted(self) -> None:
        value = {(number, -number): 0 for number in range(3000)}
        assert plain.loads(plain.dumps(value)) == value


class TestNesting:
    @staticmethod
    def _nested(depth: int) -> Any:
        value: Any = []
        for _ in range(depth - 1):
            value = [value]
        return value

    def test_a_hundred_levels_cross(self) -> None:
        value = self._nested(plain.MAX_DEPTH)
        assert plain.loads(plain.dumps(value)) == value

    def test_a_level_more_cannot_be_written(self) -> None:
        with pytest.raises(plain.PlainDataError, match="nested more than"):
            plain.dumps(self._nested(plain.MAX_DEPTH + 1))

    def test_a_list_that_holds_itself_cannot_be_written(self) -> None:
        value: list[Any] = []
        value.append(value)
        with pytest.raises(plain.PlainDataError):
            plain.dumps(value)

    def test_deeply_nested_tags_give_a_value_or_a_plain_data_error(self) -> None:
        found: set[type[Exception] | None] = set()
        openings = {"$dict": '{"$dict":[[1,', "$as": '{"$as":["x",'}
        for tag in ("$tuple", "$frozenset", "$dict", "$as", "$complex"):
            opening = openings.get(tag, f'{{"{tag}":[')
            closing = {"$dict": "]]}"}.get(tag, "]}")
            for depth in (50, 150, 250, 290, 400, 3000):
                found.add(_error(opening * depth + "1" + closing * depth))
        assert found == {None, plain.PlainDataError}

    def test_deep_plain_json_is_refused(self) -> None:
        with pytest.raises(plain.PlainDataError):
            plain.loads("[" * 400 + "]" * 400)


class TestSize:
    def test_a_megabyte_of_each_kind_crosses(self) -> None:
        for value in ("x" * (1 << 20), b"\0" * (1 << 20), list(range(150_000)), 1 << (1 << 21)):
            assert plain.loads(plain.dumps(value)) == value
