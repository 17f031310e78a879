"""Answers typed without LaTeX."""

from __future__ import annotations

import pytest

from unhack.verifiers.answers.spelling import spell
from unhack.verifiers.answers.spelling.symbols import in_typeset


@pytest.mark.parametrize(
    ("typed", "latex"),
    [
        ("(4x-1)e^(4x)/x^2", "(4x-1)e^{4x}/x^2"),
        ("1.4 x 10^(-3)", r"1.4\times 10^{-3}"),
        ("-2 <= x < 1", r"-2\leq x<1"),
        ("x >= 3", r"x\geq 3"),
        ("x != 3", r"x\neq 3"),
        ("[-3,-2] U (0,1]", r"[-3,-2]\cup (0,1]"),
        ("{x : -2 <= x < 1}", r"\{x : -2\leq x<1\}"),
        ("3 to 1", r"3\text{ to }1"),
        ("k equals 15", "k=15"),
        ("1 in 6", "1/6"),
        ("cbrt(2)", r"\sqrt[3](2)"),
        ("dy/dx = 2y", r"\frac{dy}{dx}=2y"),
        ("[[1,2],[3,4]]", r"\begin{pmatrix}1&2\\3&4\end{pmatrix}"),
        (r"48\ \text{\AA}", r"48\text{ angstrom}"),
        ("11.9 eV", r"11.9\text{ eV}"),
        (r"3\mathbin{:}1", "3:1"),
    ],
)
def test_what_is_typed_is_spelled_as_its_latex(typed: str, latex: str) -> None:
    assert spell(typed) == spell(latex)


@pytest.mark.parametrize(
    "text",
    ["y^(4)", "x<2", "5!=120", "(a)U(b)", "{1}{2}", "dyz/dx_1", "2 to x", "[1,2]", "x^{(1)}"],
)
def test_what_may_mean_something_else_stays(text: str) -> None:
    assert in_typeset(text) == text


def test_near_what_is_typed_other_spellings_differ() -> None:
    assert spell("e^(2t)") != spell("e^(2)t")
    assert spell("[[1,2],[3,4]]") != spell(r"\begin{pmatrix}1&3\\2&4\end{pmatrix}")
    assert spell("3 to 1") != spell("1 to 3")
