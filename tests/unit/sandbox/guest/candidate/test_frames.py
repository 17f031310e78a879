"""Frames carry values and arrays, and nothing that comes in is trusted."""

from __future__ import annotations

import contextlib
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from unhack.sandbox.guest.candidate import frames

PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text()
    | st.binary(),
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)
ARRAYS = hnp.arrays(
    st.sampled_from(sorted(frames.DTYPES)).map(np.dtype),
    hnp.array_shapes(min_dims=1, max_dims=3, max_side=4),
)


def sent(value: object) -> object:
    parts = frames.encode(value)
    head, header, body = parts[0], parts[1], b"".join(parts[2:])
    assert frames.sizes(head, max_bytes=1 << 20) == (len(header), len(body))
    return frames.decode(header, body)


@pytest.mark.slow
@given(PLAIN)
def test_a_plain_value_arrives_as_it_was(value: object) -> None:
    assert sent(value) == value


@pytest.mark.slow
@given(ARRAYS)
def test_an_array_arrives_with_its_type_shape_and_bytes(array: np.ndarray) -> None:
    got = sent([array])[0]  # type: ignore[index]
    assert (got.dtype, got.shape, got.tobytes()) == (array.dtype, array.shape, array.tobytes())
    assert got.flags.writeable


def test_a_scalar_of_an_array_becomes_a_number() -> None:
    assert sent(np.float32(1.5)) == 1.5
    assert math.isnan(sent(float("nan")))  # type: ignore[arg-type]


def test_a_view_is_sent_in_its_own_order() -> None:
    array = np.arange(12).reshape(3, 4).T
    assert (sent(array) == array).all()  # type: ignore[union-attr]


@given(st.binary(max_size=200), st.binary(max_size=40))
def test_arbitrary_bytes_are_refused_or_read_never_more(header: bytes, body: bytes) -> None:
    with contextlib.suppress(frames.FrameError):
        frames.decode(header, body)


HOSTILE = {
    "longer_than_the_body": {"$a": ["float64", [1000]]},
    "negative": {"$a": ["float64", [-1]]},
    "object_array": {"$a": ["object", [1]]},
    "bool_as_size": {"$a": ["int8", [True]]},
    "many_dims": {"$a": ["int8", [1] * 40]},
    "huge": {"$a": ["int8", [1 << 62, 1 << 62]]},
    "unknown_tag": {"$pickle": "x"},
    "two_keys": {"$b": 1, "$t": []},
    "same_key_twice": {"$d": [["a", 1], ["a", 2]]},
    "key_no_string": {"$d": [[1, 1]]},
    "negative_bytes": {"$b": -5},
}


@pytest.mark.parametrize("value", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_header_is_refused(value: object) -> None:
    with pytest.raises(frames.FrameError):
        frames.decode(json.dumps(value).encode(), b"\0" * 8)


def test_too_deep_nesting_is_refused_both_ways() -> None:
    value: list[object] = []
    for _ in range(200):
        value = [value]
    with pytest.raises(frames.FrameError):
        frames.encode(value)
    with pytest.raises(frames.FrameError):
        frames.decode(b"[" * 200 + b"]" * 200, b"")


def test_more_than_is_allowed_is_refused_before_it_is_read() -> None:
    with pytest.raises(frames.FrameError, match="more than"):
        frames.sizes(frames.HEADER.pack(10, 1 << 40), max_bytes=1 << 20)


def test_an_object_cannot_cross() -> None:
    with pytest.raises(frames.FrameError, match="cannot cross"):
        frames.encode([object()])
