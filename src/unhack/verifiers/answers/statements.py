r"""The value that an answer states, at the end of a chain, and a function without its domain.

    P(A)=5, a-2b=5, 2+3=5, f^{-1}(6)=5     5
    f(n)=n,n\in\mathbb{N}                  f(n)=n, where the gold answer names no domain

Not covered: an equation in one letter, which has to be solved.
"""

from __future__ import annotations

import re
from dataclasses import replace

from unhack.verifiers.answers.asked import asks_for, asks_several
from unhack.verifiers.answers.shape import (
    LETTER,
    RELATION,
    AnswerShape,
    Shape,
    read_shape,
    split,
)

_SIDES = frozenset(["=", "\\approx"])
_CALLED = re.compile(
    r"(?:\\?[A-Za-z]{1,10}(?:\^\{-1\})?|\\text\{[^{}]{1,40}\})\(.*\)|\|.*\|"
    r"|\\(?:sin|cos|tan|cot|sec|csc|ln|log|lg)(?:[-\w./(){}^ ]|\\[A-Za-z]+(?![A-Za-z]))+",
    re.DOTALL,
)
_ARITHMETIC = re.compile(
    r"(?:[-\d.,+*/^(){}!]|\\%|\\text\{of\}|\\(?:cdot|times|frac|sqrt|binom)(?![A-Za-z]) ?)+"
)
_NUMBERS = re.compile(r"(?:[-\d.,+*/^(){}!i ]|\\(?:cdot|times|frac|sqrt|binom|pi)(?![A-Za-z]))+")
_BELOW = re.compile(r"_\{[^{}]*\}")
_NUMERAL = re.compile(r"-?[\d.,]+")
_BARE_LETTER = re.compile(r"\\[A-Za-z]+|([A-Za-z])")
_EVENT = re.compile(r"(?<![A-Za-z])[PE]\([^()]*\)")
_RESIDUE = re.compile(r"(?:[^=<>]{1,40}\\equiv ?)?(\d{1,15})\\pmod\{(\d{1,15})\}")
_MAX_SIDES = 4


def asked_value(answer: Shape, question: str) -> Shape:
    """5 of `x^2=5` where the question asks for `x^2`; any other answer as it is."""
    sides = split(answer.text, frozenset("="))
    plain = answer.kind is AnswerShape.LEAF and len(sides) == 2 and all(sides)
    return read_shape(sides[1]) if plain and asks_for(sides[0], question) else answer


def sides_of(text: str) -> list[str]:
    """Both sides of `a\\approx 1.2` as a gold answer; the text alone where it is no such."""
    sides = [side.strip() for side in split(text, frozenset(["\\approx"]))]
    return sides if len(sides) == 2 and all(sides) else [text]


def exact_side(gold: str, answer: str) -> tuple[str, str]:
    """`a` of the answer `a\\approx 1.2`, and its decimal, which has to be right as well; a blank
    for other answers. Beside a gold number the decimal is the answer."""
    exact, *more = sides_of(answer)
    numbers = [_NUMERAL.fullmatch(text.removesuffix("\\%")) for text in (gold, exact)]
    decimal = more[0] if more and _NUMERAL.fullmatch(more[0].removesuffix("\\%")) else ""
    return (exact, decimal) if decimal and numbers == [None, None] else (answer, "")


def last_place(decimal: str) -> float:
    """The unit of the last digit of a numeral: 0.01 of `3.14`, 0.001 of `57.7\\%`."""
    digits = decimal.removesuffix("\\%")
    return 10.0 ** -(len(digits.partition(".")[2]) + 2 * (digits != decimal))


_PAIR = re.compile(r"\$?\d{1,3},\d{3}\$?", re.ASCII)
_MATRIX_SIDE = re.compile(
    r"\A\\begin\{pmatrix\}[^=]*\\end\{pmatrix\}(?:\^\{-?\w\})?=(?=\\begin\{pmatrix\})"
)


def is_pair(gold: str, question: str) -> bool:
    """True where the gold answer `60,180` may be two numbers."""
    return _PAIR.fullmatch(gold) is not None and (gold[:2] == "0," or asks_several(question))


def matrix_side(gold: str) -> str:
    """The matrix that a matrix to a power is said to be; any other gold answer as it is."""
    return _MATRIX_SIDE.sub("", gold)


def is_joined_otherwise(gold: str, answer: str) -> bool:
    """True for inequalities of which both hold beside those of which one does."""
    joined = [
        frozenset[str](_JOINT.findall(text) if _ORDER.search(text) else ())
        for text in (gold, answer)
    ]
    return all(joined) and joined[0].isdisjoint(joined[1])


_JOINT = re.compile(r"\\text\{(and|or)\}")
_ORDER = re.compile(r"[<>]|\\[lg]eq(?![A-Za-z])")
_DIMENSIONS = re.compile(r"\d{1,6}(?:\.\d{1,4})?(?:\\times ?\d{1,6}(?:\.\d{1,4})?){1,2}")


def same_dimensions(gold: str, answer: str) -> bool | None:
    """True where both are `6\\times 10`; None where the gold answer is no such."""
    if _DIMENSIONS.fullmatch(gold) is None:
        return None
    units = _UNIT.findall(answer)
    if len(units) == answer.count("\\times") + 1 and len({*units}) == 1:
        answer = _UNIT.sub("", answer)
    sizes = [sorted(text.replace(" ", "").split("\\times")) for text in (gold, answer)]
    return sizes[0] == sizes[1]


_UNIT = re.compile(r"\\text\{[^{}]{1,20}\}")


def stated(answer: Shape) -> Shape:
    """The value that is stated: 5 of `BC=5`, `P(A)=5`, `a-2b=5`, `2+3=5` and
    `A=2\\cdot 2.5=5`. An equation in one letter, `x+1=6`, is left to be solved."""
    sides = split(answer.text, _SIDES)
    if answer.kind is not AnswerShape.LEAF or not 1 < len(sides) <= _MAX_SIDES or not all(sides):
        return answer
    *others, last = sides
    told = [_EVENT.sub("P", side) for side in sides]  # `P(X=2)`
    plain = not RELATION.search("".join(told)) and "\\in " not in answer.text
    if not plain or not all(_is_called(side) or _is_computed(side) for side in others[1:]):
        return answer
    named = len(others) > 1 and any(map(_BARE_LETTER.search, others[0]))
    if not (named or _is_called(others[0]) or _is_computed(others[0])):
        return answer
    if _is_computed(others[0]) and _NUMERAL.fullmatch(_BELOW.sub("", last)) is None:
        return answer
    inner = read_shape(last)
    return replace(inner, unit=answer.unit or inner.unit)


def as_remainder(answer: Shape) -> Shape:
    """5 of `N\\equiv 5\\pmod{7}`; any other answer as it is."""
    found = _RESIDUE.fullmatch(answer.text)
    return read_shape(found[1]) if found and int(found[1]) < int(found[2]) else answer


def concluded(text: str) -> str:
    """The last of several numbers that are said to be equal; any other text as it is."""
    *others, last = text.split("=")
    told = len(others) < _MAX_SIDES and all(map(_NUMBERS.fullmatch, (*others, last)))
    return last if told and (len(others) > 1 or not any(_BARE_LETTER.findall(text))) else text


def _is_called(side: str) -> bool:
    """A name, an expression of letters alone, or a function of anything."""
    letters = "\\text" in side or any(_BARE_LETTER.findall(side))
    plain = letters and not any(map(str.isdigit, _BELOW.sub("", side)))
    several = "\\text" not in side and len({*_BARE_LETTER.findall(side)} - {""}) > 1
    return plain or several or _CALLED.fullmatch(side) is not None


def _is_computed(side: str) -> bool:
    plain = _BELOW.sub("", side)
    return _ARITHMETIC.fullmatch(plain) is not None and _NUMERAL.fullmatch(side) is None


_FUNCTION = re.compile(r"[A-Za-z]\(([a-z])\)")
_ORDERED = re.compile(r"([a-z])(?:[<>]|\\(?:in|neq|leq|geq)(?![A-Za-z]))")


def without_domain(gold: Shape, answer: Shape) -> Shape:
    """`answer` without where the variable of its function lies, if the gold answer has no such."""
    if answer.kind is not AnswerShape.LIST or _ORDERED.search(gold.text):
        return answer
    names = [answer.name, *(item.name for item in answer.members)]
    variables = {found[1] for found in map(_FUNCTION.fullmatch, names) if found}
    kept = tuple(item for item in answer.members if _bounded(item) not in variables)
    if len(kept) != 1:
        return replace(answer, members=kept) if kept else answer
    return replace(kept[0], name=kept[0].name or answer.name)


def _bounded(item: Shape) -> str:
    """The variable that `x>0` or `x\\in\\mathbb{R}` is about; a blank for other texts."""
    if item.text.startswith("\\mathbb{"):
        return item.name
    found = _ORDERED.match(item.text)
    return found[1] if found else ""


_ALL_EQUAL = re.compile(rf"((?:{LETTER}=){{2,8}})(.+)", re.DOTALL)


def as_listed(gold: Shape, answer: Shape) -> Shape:
    """`a=b=2` as `2, 2`, and a list in order for a tuple or the other way round, as `gold` is."""
    size = len(gold.members)
    if gold.kind not in {AnswerShape.LIST, AnswerShape.TUPLE} or gold.brackets not in {"", "()"}:
        return answer
    equal = _ALL_EQUAL.fullmatch(answer.text) if answer.kind is AnswerShape.LEAF else None
    if equal and equal[1].count("=") == size and not RELATION.search(equal[2]):
        return replace(gold, members=(read_shape(equal[2]),) * size)
    named = any(item.name for item in (*gold.members, *answer.members))
    if gold.kind is AnswerShape.LIST and all(
        item.kind is AnswerShape.TUPLE for item in gold.members
    ):
        parts = split(answer.text, frozenset(["\\text{or}", ";"]))
        if len(parts) == size:
            return replace(gold, members=tuple(map(read_shape, parts)), text=answer.text)
    pair = {gold.kind, answer.kind} == {AnswerShape.LIST, AnswerShape.TUPLE}
    if pair and not named and len(answer.members) == size and answer.brackets in {"", "()"}:
        unclear = size == 2 and not answer.name.startswith("(")  # a point, an interval, two numbers
        return answer if unclear else replace(gold, members=answer.members, name=gold.name)
    return answer
