"""Gold answers as data sets publish them: read as one text, or refused with the reason."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from unhack.verifiers.answers.gold import GoldError, read_gold
from unhack.verifiers.answers.numerals import read_number


@pytest.mark.parametrize(
    ("value", "gold"),
    [
        (r"Six crates of seven: $6\cdot 7=42$. The answer is $\boxed{42}$.", "42"),
        (
            r"First \boxed{1}. Then $x = \boxed{\frac{\sqrt{3}}{2}}$, as shown.",
            r"\frac{\sqrt{3}}{2}",
        ),
        (r"so \fbox{ 5 } cm", "5"),
        (r"$\boxed{1}$ or $\boxed{-2}$.", "1, -2"),
        (r"\boxed{1}. Now \boxed{2}", "2"),
        (r"\boxed{\boxed{7}}", "7"),
        (r"is \boxed 3$.", "3"),
        (
            r"\[\boxed{\begin{pmatrix} 1 \\ 2 \end{pmatrix}}\]",
            r"\begin{pmatrix} 1 \\ 2 \end{pmatrix}",
        ),
        (r"<think>maybe \boxed{4}</think> \boxed{5}", "5"),
        ("6*7=<<6*7=42>>42 jars\n#### 42", "42"),
        ("#### 1,234", "1,234"),
        ("6*7=42 #### 42", "42"),
        ("#### Step 1\nadd\n\\boxed{9}", "9"),
        ("<answer> 42 </answer>", "42"),
        ("The answer is 42.", "42"),
        ("So we add.\nThe final answer is: **$\\frac{1}{2}$**.", r"\frac{1}{2}"),
        ("The answer is 42 jars.", r"42\text{ jars}"),
        ("42 jars", r"42\text{ jars}"),
        ("9 (apples)", r"9\text{ apples}"),
        ("12.5 (cups of ice tea)", r"12.5\text{ cups of ice tea}"),
        (r"$\frac{1}{2}$ hours", r"\frac{1}{2}\text{ hours}"),
        ("3.5 million", "3500000"),
        ("2 thousand dollars", r"2000\text{ dollars}"),
        ("25 percent", r"25\%"),
        ("$18", "$18"),
        ("  $x^2 + 1$. ", "x^2 + 1"),
        ("$2$ or $-2$", "2, -2"),
        ("2 and 3", "2, 3"),
        (r"1;$\frac{8}{9}$", r"1, \frac{8}{9}"),
        ("$48$, $384$", "48, 384"),
        ("8 x ^ { 2 } - 3 xy + y ^ { 2 }", "8 x ^ { 2 } - 3 xy + y ^ { 2 }"),
        (r"\sin x + \cos 3x", r"\sin x + \cos 3x"),
        ("no solution", "no solution"),
        ("Monday", "Monday"),
        ("(B) Paris", "(B) Paris"),
        ("B", "B"),
        (r"575\text{ students}", r"575\text{ students}"),
        (42, "42"),
        (-3, "-3"),
        (42.0, "42"),
        (100.0, "100"),
        (0.5, "0.5"),
        (1e-3, "0.001"),
        (1e22, "1" + "0" * 22),
        (Fraction(1, 3), "1/3"),
        (Decimal("2.50"), "2.5"),
        (["42"], "42"),
        (["1", "2"], "1, 2"),
        ([1, 1, 2], "1, 1, 2"),
        (["42", "42.0"], "42"),
        ((r"thus \boxed{3}", r"or \boxed{3}"), "3"),
        ('["34"]', "34"),
        ("[1, 2]", "[1, 2]"),
        ({"ground_truth": "34", "style": "rule"}, "34"),
        ("31 $cm^{2}$", r"31\text{ cm}^{2}"),
        ("opens up everywhere", "opens up everywhere"),
        (r"\angle KLM", r"\angle KLM"),
        (np.int64(7), "7"),
        (np.float32(0.1), "0.1"),
        (np.float64(3.0), "3"),
        (np.array(5), "5"),
        (np.array([1, 2]), "1, 2"),
        (np.str_("42"), "42"),
    ],
)
def test_a_published_gold_is_read(value: Any, gold: str) -> None:
    assert read_gold(value) == gold


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "is None"),
        ("", "blank"),
        (" \n", "blank"),
        ("None", "'None'"),
        ("nan", "'nan'"),
        (float("nan"), "nan"),
        (float("inf"), "inf"),
        (np.float64("nan"), "nan"),
        (True, "bool True"),
        (np.bool_(False), "bool False"),
        ([], "empty list"),
        ([None], "is None"),
        ({"text": "42"}, "keys ['text']"),
        (b"42", "bytes"),
        (object(), "an object"),
        (r"so \boxed{}", "blank: 'so"),
        ("42 jars and 3 boxes", "several units"),
        ("between 3 and 5 jars", "prose"),
        ("3 to 5 jars", "prose"),
        ("42 or more", "prose"),
        ("42 more than before", "prose"),
        ("2 hours 30 minutes", "prose"),
        ("She had 50 jars and gave away 8.", "prose"),
        ("Yes, since $v=0$", "prose"),
        ("$a -$ $b$", "prose"),
        ("x = 1 is the\nfirst of 2 steps", "prose"),
        ((r"\boxed{3}", r"\boxed{4}"), "answers differ"),
        ("x" * 20_000, "without a mark"),
    ],
)
def test_what_is_no_gold_is_refused_by_name(value: Any, said: str) -> None:
    with pytest.raises(GoldError) as caught:
        read_gold(value)
    assert said in str(caught.value)
    assert ";" in str(caught.value), "the message says what to do"


@given(st.floats(allow_nan=False, allow_infinity=False))
@example(1e300)
@example(5e-324)
def test_a_float_is_read_as_the_number_that_it_prints(value: float) -> None:
    number = read_number(read_gold(value))
    assert number is not None
    assert number.value == Fraction(repr(value))


@given(
    st.text(max_size=60)
    | st.lists(st.sampled_from([*"$\\{}1ab ,;\n", "\\boxed{", "or", "#### "])).map("".join)
)
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        gold = read_gold(text)
    except GoldError:
        return
    assert gold.strip(" .,;")
