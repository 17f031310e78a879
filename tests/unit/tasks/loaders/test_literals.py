"""Constants are worked out from the syntax tree: Python's values, and nothing runs."""

from __future__ import annotations

import ast
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unhack.tasks.loaders.literals import NotLiteralError, evaluate

SCALARS = (
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.binary(max_size=8)
    | st.floats(allow_nan=False, allow_infinity=False)
)  # fmt: skip
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(st.integers() | st.text(max_size=4), inner, max_size=4)
        | st.sets(st.integers(), min_size=1, max_size=4)
    ),
    max_leaves=12,
)


def value_of(text: str, **names: Any) -> Any:
    return evaluate(ast.parse(text, mode="eval").body, names)


@pytest.mark.slow
@given(VALUES)
def test_the_value_of_a_literal_is_the_value_itself(value: Any):
    found = value_of(repr(value))
    assert found == value
    assert type(found) is type(value)


@given(
    st.integers(-50, 50),
    st.integers(1, 9),
    st.sampled_from(["+", "-", "*", "/", "//", "%", "**", "|", "&", "^"]),
)
def test_arithmetic_on_constants_is_that_of_python(left: int, right: int, operator: str):
    text = f"({left}) {operator} {right}"
    assert value_of(text) == eval(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("[0] * 3 + [1]", [0, 0, 0, 1]),
        ("'ab' * 2", "abab"),
        ("-2 ** 3", -8),
        ("not []", True),
        ("set([1, 2, 2])", {1, 2}),
        ("tuple(range(3))", (0, 1, 2)),
        ("float('-inf')", float("-inf")),
        ("sorted({3: 1, 2: 0})", [2, 3]),
        ("[*range(2), 9]", [0, 1, 9]),
        ("{**{1: 2}, 3: 4}", {1: 2, 3: 4}),
        ("math.inf", float("inf")),
        ("1 << 4", 16),
    ],
)
def test_these_expressions_are_constants(text: str, value: Any):
    assert value_of(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "x",
        "x.y",
        "[1, 2][0]",
        "[i for i in range(3)]",
        "f'{1}'",
        "lambda: 1",
        "open('secret')",
        "__import__('os')",
        "range(3)",
        "...",
        "1 / 0",
        "int('x')",
        "{[]: 1}",
        "max(1, 2, key=abs)",
        "'%s' % 3",
    ],
)
def test_these_expressions_are_not_constants(text: str):
    with pytest.raises(NotLiteralError):
        value_of(text)


@pytest.mark.parametrize(
    "text",
    ["9 ** 9 ** 9", "[0] * 10 ** 9", "'x' * 10 ** 9", "1 << 10 ** 9", "list(range(10 ** 9))",
     "bytes(10 ** 9)", "10 ** 900000 * 10 ** 900000"],
)  # fmt: skip
def test_a_huge_constant_is_refused_before_it_is_built(text: str):
    with pytest.raises(NotLiteralError):
        value_of(text)


def test_a_name_stands_for_the_value_that_the_caller_gives():
    assert value_of("limit + 1", limit=4) == 5


def test_a_name_of_the_caller_hides_the_builtin():
    with pytest.raises(NotLiteralError):
        value_of("len([1])", len=3)
