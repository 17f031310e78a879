"""Expressions as trees: they come back the same, and nothing else comes back at all."""

from __future__ import annotations

import contextlib
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unhack.core.plain import dumps
from unhack.sandbox.guest.judge import math_tree

sympy: Any = pytest.importorskip("sympy")
extended: Any = pytest.importorskip("latex2sympy2_extended")


def parse(text: str) -> Any:
    return extended.latex2sympy(text, is_real=True, normalization_config=None)


def there_and_back(text: str) -> Any:
    return math_tree.decode(math_tree.encode(parse(text), percent="fraction"))


@pytest.mark.parametrize(
    "text",
    [
        *("5", "-5", r"\frac{22}{7}", "x", r"\pi", "e^{2}", r"\infty", "x_{1} + 2y", "17 - 23x"),
        *(r"\frac{\sqrt{3}}{2}", r"\sqrt[3]{x}", r"\sin(x)^{2}", r"\log_2 8", "10!", "f(x) = 2"),
        *("(1, 2)", "(3, 1)", "[1, 2)", r"\{1, x\}", r"(0, 1] \cup [2, 3)", r"\emptyset"),
        *("x = 1", "1 < x < 2", r"x \neq 3", r"\begin{pmatrix} 1 & x \\ 2 & 3 \end{pmatrix}"),
        *(r"\int_0^1 x^{2} dx", r"\sum_{n=1}^{10} n", r"|x|", r"\lfloor x \rfloor"),
    ],
)
def test_a_tree_gives_the_expression_back(text: str) -> None:
    assert there_and_back(text) == parse(text)


def test_a_decimal_is_the_fraction_that_its_digits_say() -> None:
    assert there_and_back("0.1") == sympy.Rational(1, 10)
    assert there_and_back("3.14159265358979323846264338327950288") == sympy.Rational(
        "3.14159265358979323846264338327950288"
    )


def test_a_percent_sign_is_resolved_when_the_tree_is_written() -> None:
    expression = parse(r"50\%")
    assert math_tree.decode(math_tree.encode(expression, percent="fraction")) == sympy.S.Half
    assert math_tree.decode(math_tree.encode(expression, percent="points")) == 50


FORGED = [
    *(None, 5, "x", [], {}, [5], [[]], [None, "int"], ["int"], ["int", 5], ["int", "zz"]),
    *(["int", "0x" + "f" * 9999], ["ratio", "0x1", "0x0"], ["symbol", "", True], ["symbol", "x"]),
    *(["symbol", "x" * 300, True], ["constant", "S"], ["constant", "__class__"]),
    *(["eval", ["symbol", "x", True]], ["sympify", ["symbol", "1+1", True]], ["Lambda"], ["S"]),
    *(["__class__"], ["parse_expr"], ["Pow"], ["Mul", "x"], ["Integral"], ["matrix", ["x"]]),
    *(["matrix", [[["int", "0x1"]], []]], ["Interval", ["int", "0x1"]], ["call"], ["call", 5]),
    ["Add", *([["int", "0x1"]] * 3000)],
]


@pytest.mark.parametrize("tree", FORGED, ids=lambda tree: str(tree)[:40])
def test_a_forged_tree_is_refused(tree: Any) -> None:
    with pytest.raises((math_tree.TreeError, TypeError)):
        math_tree.decode(tree)


NAMES = st.sampled_from(["int", "symbol", "call", "matrix", "constant", "Add", "Pow", "eval", "x"])
TREES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.text(max_size=5) | st.sampled_from(["0x2", "Pi"]),
    lambda inner: st.builds(lambda name, rest: [name, *rest], NAMES, st.lists(inner, max_size=3)),
    max_leaves=8,
)


@pytest.mark.slow
@given(TREES)
def test_whatever_the_tree_it_is_an_expression_or_an_error(tree: Any) -> None:
    try:
        expression = math_tree.decode(tree)
    except (math_tree.TreeError, TypeError):
        expression = sympy.S.Zero
    assert isinstance(expression, (sympy.Basic, sympy.MatrixBase))


_compiled: list[str] = []
_watching = False


def _note_compilation(event: str, arguments: tuple[Any, ...]) -> None:
    if _watching and event == "compile":
        _compiled.append(str(arguments[0]))


def compiled_while(function: Any, text: str) -> list[str]:
    """The sources that the interpreter compiled meanwhile."""
    global _watching
    if _note_compilation not in _HOOKED:
        sys.addaudithook(_note_compilation)
        _HOOKED.append(_note_compilation)
    _compiled.clear()
    _watching = True
    with contextlib.suppress(Exception):
        function(text)
    _watching = False
    return list(_compiled)


_HOOKED: list[Any] = []
CODE = "__import__('os').getpid() + marker_7351"


@pytest.mark.parametrize(
    "text",
    [
        CODE,
        rf"\text{{{CODE}}}",
        rf"\operatorname{{{CODE}}}(x)",
        "marker_7351(x) + 1",
        r"\mathrm{marker_7351}",
        "Integer(marker_7351)",
        r"f_{\text{marker_7351}}(2) = \{1, marker_7351\}",
    ],
)
def test_no_part_of_a_text_is_ever_compiled(text: str) -> None:
    assert not [source for source in compiled_while(there_and_back, text) if "7351" in source]


def test_the_watch_on_compilation_sees_what_sympy_evaluates() -> None:
    from sympy.parsing.sympy_parser import parse_expr

    assert [source for source in compiled_while(parse_expr, "marker_7351 + 1") if "7351" in source]


@pytest.mark.parametrize(
    "text",
    [
        *("5", "-5", r"\frac{22}{7}", "0.5", r"3\frac{1}{2}", r"\sqrt{12}", r"2\sqrt{3}", r"5\pi"),
        *(r"\frac{3\sqrt{3}}{2}", r"-\frac{\sqrt{3}}{2}", r"1 + \sqrt{2}", r"\ln 2", r"e^{2}"),
        *("x + 1", "2x^{2} - 3x + 1", r"\frac{x + 1}{2}", "x! + 1", "x = 5", r"\{1, 2\}", "(1, 2)"),
        *(r"-x", r"-\frac{1}{2}x", r"\begin{pmatrix} 1 \\ 2 \end{pmatrix}", r"\infty", "2^{n}"),
        *(r"\frac{3}{7} \cdot \frac{1}{z}", r"1 \cdot z", r"-1 \cdot 3z"),
    ],
)
def test_an_expression_with_nothing_left_to_compute_is_evaluated(text: str) -> None:
    assert math_tree.is_evaluated(there_and_back(text))


@pytest.mark.parametrize(
    "text",
    [
        *(r"17 \cdot 23", "2 + 3", "2 - 3", "5!", "2^{10}", r"\sqrt{4}", r"\log_2 8", "|-5|"),
        *(r"\frac{3}{7} \cdot \frac{2}{z}", r"1 \cdot 2 \cdot 3 z"),
        *("x + 1 + 2", r"2 \cdot 3 x", r"2\pi + 3\pi", r"\sqrt{3} + \sqrt{12}", r"\frac{1.5}{2}"),
        *("x = 2 + 3", r"\{1, 3 - 1\}", "(1, 1 + 1)", r"\sqrt{2} \sqrt{2}", r"\sqrt{2 + 3}"),
        *(r"\int_0^1 x dx", r"\sum_{n=1}^{5} n", r"\lim_{x \to 0} x", r"\sin(0)"),
        r"\begin{pmatrix} 1 \\ 1 + 1 \end{pmatrix}",
    ],
)
def test_an_expression_that_restates_a_computation_is_not_evaluated(text: str) -> None:
    assert not math_tree.is_evaluated(there_and_back(text))


@given(st.integers(), st.integers(min_value=1, max_value=10**9))
def test_every_number_survives_the_journey_as_json(above: int, below: int) -> None:
    number = sympy.Rational(above, below)
    tree = math_tree.encode(number, percent="fraction")
    assert "$" not in dumps(tree)
    assert math_tree.decode(tree) == number
