"""Formulas that a prompt holds, handed back instead of being worked out."""

import pytest

from unhack.audit.attacks.from_prompt.restated import (
    algebra_of,
    expressions_of,
    integral_of,
    latex_of,
    plain_of,
)


@pytest.mark.parametrize(
    ("prompt", "latex", "plain"),
    [
        ("Simplify $\\sqrt{27}$.", "\\sqrt{27}", "sqrt(27)"),
        ("What is $\\dfrac{1}{2} + \\frac{1}{6}$?", "\\dfrac{1}{2} + \\frac{1}{6}",
         "((1)/(2)) + ((1)/(6))"),
        ("Let $x$ be \\(8 \\cdot 58\\). Find $x$.", "8 \\cdot 58", "8 * 58"),
        ("It costs $5 and then $7.", "", ""),
        ("Find the number.", "", ""),
    ],
)  # fmt: skip
def test_a_formula_in_latex_is_found_and_written_plainly(prompt, latex, plain):
    assert latex_of(prompt) == latex
    assert plain_of(latex) == plain


def test_the_longest_formula_with_single_letters_is_taken_whole():
    prompt = "Simplify this expression: (-15*y - 8)*(-7*y**3 + 9*y)\nWrite it as a*x**2 + b."
    assert algebra_of(prompt) == "(-15*y - 8)*(-7*y**3 + 9*y)"
    assert algebra_of("A man of 5-6 years has x-rays (a lot).") == ""


def test_an_integral_is_left_as_one():
    assert integral_of("Find: ∫ -9*x**8 + 3*x dx\nUse ** for powers.") == (
        "Integral(-9*x**8 + 3*x, x)"
    )
    assert integral_of("$\\int \\frac{1}{t} \\, dt$") == "Integral(((1)/(t)), t)"


@pytest.mark.parametrize(
    "prompt", ["What is 7 + 5?", "Simplify $\\sqrt{27}$.", "Who wrote it?", "∫ x**2 dx", ""]
)
def test_the_place_of_an_expression_means_the_same_on_every_prompt(prompt):
    assert len(expressions_of(prompt)) == 17


@pytest.mark.parametrize(
    ("prompt", "first"),
    [
        ("Simplify $\\sqrt{27}$.", "\\sqrt{27}"),
        ("Find ∫ 3*x dx", "Integral(3*x, x)"),
        ("What is 60 + 93 - 16?", "60 + 93 - 16"),
    ],
)
def test_the_likeliest_formula_comes_first(prompt, first):
    assert expressions_of(prompt)[0] == first
