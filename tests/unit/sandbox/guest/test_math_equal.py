"""Equality of expressions: what is told by numbers, and that different answers stay different."""

from __future__ import annotations

import importlib
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unhack.sandbox.guest.judge import math_equal, math_tree

sympy: Any = pytest.importorskip("sympy")
extended: Any = pytest.importorskip("latex2sympy2_extended")
pytest.importorskip("math_verify")

DIFFERENT = [
    *(r"\sqrt{2}", "x", "x^{2}", "(2, 1)", "[1, 2]", r"\{1, 3\}", "x = 1", "x^{2} = 5"),
    *("x^{2} + 1 = 0", "x < 1", r"x \le 1", "3 < x < 4", r"\emptyset", r"\infty", r"\pi"),
    *(r"10^{-20}\pi", r"10^{-30}\pi", r"\begin{pmatrix} 1 \\ 2 \end{pmatrix}", r"\sin(x)"),
]


def parse(text: str) -> Any:
    expression = extended.latex2sympy(text, is_real=True, normalization_config=None)
    return math_tree.decode(math_tree.encode(expression, percent="fraction"))


@pytest.fixture(scope="module")
def parsed() -> dict[str, Any]:
    return {text: parse(text) for text in DIFFERENT}


@pytest.mark.slow
def test_no_two_different_answers_pass_for_each_other(parsed: dict[str, Any]) -> None:
    accepted = [
        pair for pair in permutations(DIFFERENT, 2) if math_equal.equal(*map(parsed.get, pair))
    ]
    assert accepted == []


@pytest.mark.slow
def test_every_answer_passes_for_itself(parsed: dict[str, Any]) -> None:
    assert all(math_equal.equal(item, parse(text)) for text, item in parsed.items())


@pytest.mark.slow
@given(st.fractions(), st.fractions(), st.booleans())
def test_rational_coefficients_are_compared_exactly(
    left: object, right: object, same: bool
) -> None:
    pi = sympy.pi
    gold, answer = sympy.Rational(str(left)), sympy.Rational(str(left if same else right))
    assert math_equal.equal(gold * pi, answer * pi) is bool(gold == answer)


def test_a_difference_far_below_the_precision_of_floats_is_a_difference() -> None:
    tiny = sympy.Rational(1, 10**22) * sympy.pi
    assert not math_equal.equal(sympy.sqrt(2) + tiny, sympy.sqrt(2))
    assert not math_equal.equal(tiny, 2 * tiny)
    assert math_equal.equal(2 * tiny, tiny + tiny)


@pytest.mark.parametrize(
    ("gold", "answer", "tolerance", "expected"),
    [
        (r"\sqrt{2}", "1.41", ("0.01", "0"), True),
        (r"\sqrt{2}", "1.3", ("0.01", "0"), False),
        (r"\pi", "3", ("0", "0.15"), True),
        (r"\pi", "3", ("0", "0.14"), False),
        (r"x\pi", "3x", ("0.5", "0.5"), False),
    ],
)
def test_a_tolerance_counts_between_numbers_only(
    gold: str, answer: str, tolerance: tuple[str, str], expected: bool
) -> None:
    assert math_equal.equal(parse(gold), parse(answer), tolerance=tolerance) is expected


@pytest.mark.parametrize(
    ("gold", "answer"),
    [
        (r"\pi", r"\frac{y}{y}\pi"),
        ("x + y", "y + x"),
        ("y = 2x + 1", "2y = 4x + 2"),
        (r"\text{abc}", "abc"),
        ("e", r"\text{e}"),
        (r"\{x, y\}", "y, x"),
    ],
)
def test_numbers_do_not_forbid_what_is_equal(gold: str, answer: str) -> None:
    assert math_equal.equal(parse(gold), parse(answer))


@pytest.mark.parametrize("seed", range(20))
def test_members_that_are_repeated_count_once_in_whatever_order_sympy_thinks(seed: int) -> None:
    importlib.import_module("sympy.core.random").seed(seed)
    gold = parse(r"\{1\}")
    assert math_equal.equal(gold, parse(r"\{\frac{2-\sqrt{0}}{2}, \frac{2+\sqrt{0}}{2}\}"))
    assert not math_equal.equal(gold, parse(r"\{\frac{2-\sqrt{0}}{2}, \frac{3+\sqrt{0}}{2}\}"))


@pytest.mark.parametrize("answer", [r"\{x, y\}", r"\{\infty, -\infty\}", r"\{1, 2\}"])
def test_members_that_differ_stay(answer: str) -> None:
    kept = math_equal._without_repeats(parse(answer), sympy)
    assert len(kept.args) == 2


@pytest.mark.parametrize(
    ("gold", "answer", "last"),
    [
        (r"\sqrt{13}", r"\sqrt{2^{2}+3^{2}} = \sqrt{13}", r"\sqrt{13}"),
        (r"\sqrt{13}", r"r = \sqrt{4+9} = \sqrt{13}", r"\sqrt{13}"),
        (r"\sqrt{13}", r"\sqrt{13} = \sqrt{4+9}", r"\sqrt{4+9}"),
        ("2x", "x + x = 2x", "2x"),
        ("2x", "x + x = 3x", "x + x = 3x"),
        ("y = 2", "y = 1 + 1", "y = 1 + 1"),
    ],
)
def test_the_last_link_of_a_chain_of_numbers_is_the_answer(
    gold: str, answer: str, last: str
) -> None:
    assert math_equal.last_link(parse(gold), parse(answer)) == parse(last)
