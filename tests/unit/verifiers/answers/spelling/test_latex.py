"""One spelling for each way of writing the same mathematics, and nothing lost on the way."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from unhack.verifiers.answers.intervals import as_interval
from unhack.verifiers.answers.notation import for_parser
from unhack.verifiers.answers.shape import AnswerShape, read_shape
from unhack.verifiers.answers.spelling import MAX_SPELLED_CHARS, SpellingError, spell

SAME = [
    (r"\frac{1}{2}", r"\frac12", r"\dfrac 1 2", r"\tfrac{1}2", r"1 \over 2", r"{1 \over 2}", "½"),
    (
        "42",
        "**42**",
        "`42`",
        "$42$",
        "$$42$$",
        r"\(42\)",
        r"\displaystyle 42",
        "= 42",
        r"\mathbf{42}",
    ),
    ("18107", "18,107", r"18,\!107", "18{,}107", r"18\,107", "18\u202f107"),
    (r"\sqrt{2}", "√2", r"\sqrt2", "sqrt(2)", r"\sqrt[2]{2}"),
    ("x^{2}+3x_{1}", "x² + 3x₁", "x^2+3 x_1", "x**2 + 3x_1"),
    ("y_{1}''", r"y_1^{\prime\prime}", "y''_1"),
    (r"30^{\circ}", "30°", r"30^\circ", r"30\degree"),
    (r"\frac{1}{6}", r"0.1\overline{6}", r"0.1\bar6"),
    (r"e^{16}-1", r"\exp(16) - 1", "exp(16)-1"),
    (r"-2\cdot\pi", r"−2·π", r"-2 \cdot \pi"),
    (r"\emptyset", r"\text{no solution}", "no solution", r"\text{ No solution.}"),
    (r"\begin{pmatrix}1\\2\end{pmatrix}", r"\begin{array}{c} 1 \\ 2 \\ \end{array}"),
    (r"1\text{and}3", r"\text{1 and 3}", "1 and 3"),
    (r"x\leq3", "x ≤ 3", r"x \leqslant 3", r"x \le 3"),
    (r"(-\infty,3]", "(-∞, 3]", r"\left(-\infty, 3\right]"),
]


@pytest.mark.parametrize("texts", SAME, ids=[texts[0] for texts in SAME])
def test_ways_of_writing_one_answer_have_one_spelling(texts: tuple[str, ...]) -> None:
    assert {spell(text) for text in texts} == {texts[0]}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("385_9", "385"),
        ("385_9", "385_{10}"),
        ("y''", "y'"),
        ("A^T", "A"),
        (r"\tan 15^\circ", r"\tan 15"),
        (r"\mathbf{a}\cdot\mathbf{b}", r"\mathbf{a}\times\mathbf{b}"),
        ("2 2/3", "22/3"),
        (r"\hat{x}", "x"),
        ("5!!", "5!"),
        ("(1,234)", "1234"),
        ("1, 2", "12"),
        (r"\overline{z}", "z"),
    ],
)
def test_what_tells_two_answers_apart_stays(one: str, other: str) -> None:
    assert spell(one) != spell(other)


@pytest.mark.parametrize(
    "text",
    [
        "x" * (MAX_SPELLED_CHARS + 1),
        "{" * 60,
        "(" * 200 + ")" * 200,
        "{x",
        "x}",
        "^" * 300,
        r"\frac{1}",
    ],
)
def test_what_cannot_be_taken_apart_is_refused(text: str) -> None:
    with pytest.raises(SpellingError):
        spell(text)


PIECES = [
    *("\\frac", "\\sqrt", "\\text{", "\\begin{pmatrix}", "\\end{pmatrix}", "\\left(", "\\pm "),
    *("\\in ", "\\cup ", "^", "_", "{", "}", "(", ")", "[", "]", "\\{", "\\}", ",", ":", "'", "|"),
    *("1", "23", "x", " ", "=", "<", "\\leq ", "\\circ", "\\\\", "&", "$", "or", "e5", ".", "cm"),
]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=40).map("".join) | st.text(max_size=60)


@pytest.mark.slow
@given(TEXTS)
@example("x\\in " * 150)
@example("\\pm " * 200)
@example("\\sqrt(" * 100)
@example("(" * 24 + "x," * 400 + ")" * 24)
def test_any_text_is_spelled_and_taken_apart_or_refused(text: str) -> None:
    try:
        spelled = spell(text)
    except SpellingError:
        return
    shape = read_shape(spelled)
    assert shape.kind in AnswerShape
    assert len(as_interval(spelled)) == 2
    assert for_parser(spelled) != "" or not spelled


@given(TEXTS)
@example("^0AAAA")
@example("\\frac12hours")
def test_a_spelling_is_its_own_spelling(text: str) -> None:
    try:
        once = spell(text)
        twice = spell(once)
    except SpellingError:
        return
    assert twice == once


@pytest.mark.parametrize(
    ("text", "kind", "members"),
    [
        ("3, 3, 5", AnswerShape.LIST, 3),
        ("17, 41, and 90", AnswerShape.LIST, 3),
        (r"2 \pm \sqrt{3}", AnswerShape.LIST, 2),
        (r"\{1, 2\}", AnswerShape.SET, 2),
        ("(1, 2]", AnswerShape.TUPLE, 2),
        ("5:30", AnswerShape.RATIO, 2),
        (r"\left[\begin{array}{cc}1&2\\3&4\end{array}\right]", AnswerShape.MATRIX, 4),
        ("(42)", AnswerShape.LEAF, 0),
        ("f(x, y)", AnswerShape.LEAF, 0),
    ],
)
def test_an_answer_is_taken_apart(text: str, kind: AnswerShape, members: int) -> None:
    shape = read_shape(spell(text))
    assert (shape.kind, len(shape.members)) == (kind, members)


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        (r"5\text{ cm}^2", "centimeter^2"),
        (r"5 \text{ square centimeters}", "centimeter^2"),
        (r"1.6 \mathrm{~m} / \mathrm{s}^2", "meter per second^2"),
        (r"\$1.50", "dollar"),
        (r"30^\circ", "degree"),
        (r"120^\circ\text{C}", "degree C"),
        (r"\sin 30^\circ", ""),
        (r"\text{increase by }5", ""),
    ],
)
def test_a_unit_is_set_apart(text: str, unit: str) -> None:
    assert read_shape(spell(text)).unit == unit


@pytest.mark.parametrize(
    ("text", "interval"),
    [
        ("0 < x < 12.5", ("x", "(0,12.5)")),
        (r"x \ge 3", ("x", r"[3,\infty)")),
        ("2 > x", ("x", r"(-\infty,2)")),
        (r"x < 2 \text{ or } x > 3", ("x", r"(-\infty,2)\cup (3,\infty)")),
        (r"\{x \mid -2 \le x < 1\}", ("x", "[-2,1)")),
        ("x < y", ("", "")),
        ("0 < x > 3", ("", "")),
        ("x = 3", ("", "")),
    ],
)
def test_an_inequality_in_one_name_is_an_interval(text: str, interval: tuple[str, str]) -> None:
    assert as_interval(spell(text)) == interval


@pytest.mark.parametrize(
    "text",
    [
        "385_9", r"\angle ABC", "5!!", r"3 \pmod{5}", r"7 \text{ remainder } 2", r"1, 2, \ldots, n",
        r"\vec{a}\times\vec{b}", "P(A|B)", "x^*", r"9^{9^{9^{9}}}", "2^{999999}",
        "(10000000)!", "9999999!",
    ],
)  # fmt: skip
def test_what_the_parser_would_drop_or_never_finish_is_not_handed_to_it(text: str) -> None:
    assert for_parser(spell(text)) is None


def test_what_the_parser_would_drop_is_written_so_that_it_stays() -> None:
    texts = ["y''+y=0", "y'+y=0", "A^T", "A", r"\tan15^{\circ}", r"\tan15"]
    handed = [for_parser(spell(text)) for text in texts]
    assert None not in handed
    assert len(set(handed)) == len(texts)
    assert all("'" not in str(text) and "^{T}" not in str(text) for text in handed)
