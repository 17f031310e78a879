r"""The parts of a spelled answer: lists, sets, pairs and intervals, ratios, matrices, quantities.

`read_shape` takes a text from `spelling` apart at its outermost separators, so that what a parser
of LaTeX drops is compared part by part: how often a member of a list stands in it, brackets, the
order of a pair, the sides of a ratio or a clock, units, the name that an answer is given to.

Covered: `a, b \text{ and } c`, `a \text{ or } b`, `a \pm b` (two members), `\{a, b\}`, `(a, b]`,
`a:b:c`, matrices, `x = a`, `x \in a`, `a \text{ cm}^2`, `a^\circ`, `\$a`, inequalities in one name
as intervals (`a < x \le b`, `x < a \text{ or } x > b`, `\{x \mid x > a\}`). Linear time for each
level of brackets, of which there are at most `spelling.MAX_DEPTH`.
`in_one_notation` writes a vector as the other answer does: `2\mathbf{i}-\mathbf{k}`, a column, a
factor before a matrix, `y=-1, x=4` for `(4, -1)`.
Not covered: what a part means; that is compared by `equivalence`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction

from unhack.verifiers.answers.numerals import read_number
from unhack.verifiers.answers.spelling.style import in_order, same_text
from unhack.verifiers.answers.units import unit_name


class AnswerShape(StrEnum):
    """The outermost form of an answer."""

    LEAF = "leaf"
    """An expression, a relation, a word: nothing that is taken apart."""
    LIST = "list"
    """Members without brackets; their order does not matter, how often they stand there does."""
    SET = "set"
    """Members in braces; neither order nor repeats matter."""
    TUPLE = "tuple"
    """Members in brackets, in order; also an interval."""
    RATIO = "ratio"
    """Members parted by colons, in order; also a clock."""
    MATRIX = "matrix"
    """Rows of cells."""


@dataclass(frozen=True, slots=True)
class Shape:
    """An answer and its parts."""

    kind: AnswerShape
    text: str
    """Without its name and its unit."""
    members: tuple[Shape, ...] = ()
    brackets: str = ""
    """Of a tuple: what opens and what closes it; of a matrix: its number of rows."""
    name: str = ""
    """`x` in `x = 5`."""
    unit: str = ""
    """One spelling for each unit: `centimeter^2`."""


SCAN = re.compile(
    r"\\begin\{[A-Za-z*]+\}|\\end\{[A-Za-z*]+\}|\\text\{[^{}]*\}|\\[A-Za-z]+ ?|\\.|.", re.DOTALL
)
_OPENING = frozenset(["(", "[", "{", "\\{", "\\langle", "\\lfloor", "\\lceil"])
_CLOSING = frozenset([")", "]", "}", "\\}", "\\rangle", "\\rfloor", "\\rceil"])
AND = frozenset(["\\text{and}", "\\text{or}", ",", ";"])


def split(text: str, separators: frozenset[str]) -> list[str]:
    """The parts of `text` between separators that stand in no brackets."""
    parts = [""]
    depth = 0
    for token in SCAN.findall(text):
        bare = token.rstrip()
        depth += (bare in _OPENING or bare.startswith("\\begin{")) - (
            bare in _CLOSING or bare.startswith("\\end{")
        )
        if depth == 0 and bare in separators:
            parts.append("")
        else:
            parts[-1] += token
    return [part.strip() for part in parts]


def _enclosed(text: str) -> tuple[str, str, str] | None:
    """The opening bracket, the inside and the closing bracket of a text that they enclose."""
    tokens = [token.rstrip() for token in SCAN.findall(text)]
    if len(tokens) < 2 or tokens[0] not in _OPENING or tokens[-1] not in _CLOSING:
        return None
    depth = 0
    for at, token in enumerate(tokens):
        depth += (token in _OPENING) - (token in _CLOSING)
        if depth == 0:
            if at < len(tokens) - 1:
                return None
            return tokens[0], text[len(tokens[0]) : len(text) - len(tokens[-1])].strip(), token
    return None


LETTER = r"(?:\\[A-Za-z]+|[A-Za-z])(?:_\{[^{}]{1,20}\})?'{0,4}"
_NAMED = re.compile(
    rf"({LETTER}(?:\([A-Za-z0-9,]{{1,20}}\))?|[f-hkF-H]\^\{{-1\}}\([a-z]\)|(?:[A-Z](?:\^\{{(?:T|-1)\}})?){{1,3}}|\({LETTER}(?:,{LETTER}){{1,8}}\))"
    r"\s?(?:=|\\in(?![A-Za-z]) ?)(.+)",
    re.DOTALL,
)
_NAMED_LAST = re.compile(rf"(.{{1,500}})=({LETTER})", re.DOTALL)
_EITHER_SIGN = re.compile(r"\\pm(?![A-Za-z]) ?")
_MAX_MEMBERS = 64


def read_shape(text: str) -> Shape:
    """The shape of a spelled text."""
    parts = [part for part in split(text, AND) if part]
    if len(parts) > _MAX_MEMBERS:
        return Shape(AnswerShape.LEAF, text)
    if len(parts) > 1:
        first, *others = map(_read_labelled, parts)
        members = [first, *others]
        if first.name and not any(item.name for item in others):
            members = [replace(first, name=""), *others]
            return Shape(AnswerShape.LIST, text, _spread(members), name=first.name)
        return Shape(AnswerShape.LIST, text, _spread(members))
    return _read_part(parts[0] if parts else text)


_LABELLED = re.compile(r"(\\text\{[A-Za-z ]{1,30}\})[:=](.+)", re.DOTALL)


def _read_labelled(text: str) -> Shape:
    """The shape of a member of a list, `\\text{total}:245` among them."""
    label = _LABELLED.fullmatch(text)
    return replace(_read_part(label[2].strip()), name=label[1]) if label else _read_part(text)


def _spread(members: list[Shape]) -> tuple[Shape, ...]:
    """The members, those of a member that is a list itself (`\\pm 3`) among them."""
    flat: list[Shape] = []
    for item in members:
        parts = item.members if item.kind is AnswerShape.LIST else (item,)
        flat += [replace(part, name=item.name) for part in parts]
    return tuple(flat)


def _read_part(text: str) -> Shape:
    """The shape of a text without separators outside of brackets."""
    named = _NAMED.fullmatch(text)
    if named and not RELATION.search(named[2]) and "\\in " not in named[2]:
        inner = read_shape(named[2].strip())
        return replace(inner, name=named[1].replace(" ", ""))
    turned = _NAMED_LAST.fullmatch(text)
    if turned and not RELATION.search(turned[1]):
        return replace(read_shape(turned[1].strip()), name=turned[2].replace(" ", ""))
    plain = "\\mp" not in text and "\\text" not in text and not text.startswith("\\{")
    if plain and len(_EITHER_SIGN.findall(text)) == 1:
        both = [_EITHER_SIGN.sub(sign, text) for sign in "+-"]
        members = tuple(_read_part(item.removeprefix("+")) for item in both)
        return Shape(AnswerShape.LIST, text, members)
    sides = split(text, frozenset(":"))
    if 1 < len(sides) <= _MAX_MEMBERS and all(sides):
        *others, last = sides
        end = _without_unit(last)
        members = tuple(map(read_shape, [*others, end.text]))
        return Shape(AnswerShape.RATIO, text, members, unit=end.unit)
    found = _enclosed(text)
    return _read_enclosed(text, *found) if found else _without_unit(text)


_BUILT = re.compile(r":|\\in(?![A-Za-z])|\A[A-Za-z]\|")


def _read_enclosed(text: str, left: str, inner: str, right: str) -> Shape:
    members = split(inner, frozenset([",", ";"]))
    if left == "\\{" and right == "\\}":
        if len(members) > _MAX_MEMBERS or _BUILT.search(inner) or inner.count("|") % 2:
            return Shape(AnswerShape.LEAF, text)
        return Shape(AnswerShape.SET, text, _spread([read_shape(item) for item in members if item]))
    named = [_read_part(item) for item in members] if left + right == "[]" else []
    if len(named) > 1 and all(item.name for item in named):  # `[x=1, y=2]` of a computer's algebra
        return Shape(AnswerShape.LIST, text, tuple(named))
    if left not in {"(", "[", "\\langle"} or right not in {")", "]", "\\rangle"}:
        return Shape(AnswerShape.LEAF, text)
    if len(members) == 1:
        matrix = inner.startswith("\\begin{pmatrix}") and inner.endswith("\\end{pmatrix}")
        if matrix or (left == "(" and right == ")"):
            return read_shape(inner)
        return Shape(AnswerShape.LEAF, text)
    if not all(members) or len(members) > _MAX_MEMBERS:
        return Shape(AnswerShape.LEAF, text)
    brackets = (left + right).replace("\\langle", "(").replace("\\rangle", ")")
    return Shape(AnswerShape.TUPLE, text, tuple(map(read_shape, members)), brackets)


_UNITS = re.compile(
    r"((?:\\text\{(?!and\}|or\})[^{}]*\}|\^\{\\circ\}) ?"
    r"(?:\\text\{[^{}]*\}|\^\{-?\d\}|/|\\cdot ?|[A-Za-z](?![A-Za-z]))*)\Z"
)
_TRIGONOMETRIC = re.compile(r"\\(?:arc)?(?:sin|cos|tan|cot|sec|csc)")
_CURRENCY = re.compile(r"-?(\\?[$€£¥₹])-?(?=[\d.])")
_OPERATOR_END = re.compile(r"(?:[-+*/=<>^_(,:|]|\\(?:cdot|times|leq|geq|neq|pm|in|cup)) ?\Z")


def _without_unit(text: str) -> Shape:
    """A leaf, or a matrix, with its unit apart."""
    if text.startswith("\\begin{pmatrix}") and text.find("\\end{pmatrix}") == len(text) - 13:
        rows = split(text[15:-13], frozenset(["\\\\"]))
        cells = [split(row, frozenset("&")) for row in rows]
        if len({len(row) for row in cells}) == 1 and sum(map(len, cells)) <= _MAX_MEMBERS:
            members = tuple(read_shape(cell) for row in cells for cell in row)
            return Shape(AnswerShape.MATRIX, text, members, str(len(rows)))
    money = _CURRENCY.match(text)
    if money:
        inner, unit = _without_unit(text.replace(money[1], "", 1)), unit_name(money[1])
        return replace(inner, unit=unit) if inner.unit in {"", unit} else inner
    at = text.find("\\text{")
    if text[at - 1 : at] == "(" and text.endswith("})"):
        text = text[: at - 1] + text[at:-1]
        at -= 1
    for start in sorted({at, text.rfind("^{\\circ}")} - {-1}):
        core, rest = text[:start].strip(), text[start:]
        if not core or _OPERATOR_END.search(core) or not _UNITS.fullmatch(rest):
            continue
        if "\\circ" in rest and _TRIGONOMETRIC.search(core):
            continue
        inner = read_shape(core) if _enclosed(core) else Shape(AnswerShape.LEAF, core)
        return replace(inner, unit=unit_name(rest))
    return Shape(AnswerShape.LEAF, text)


RELATION = re.compile(r"[=<>]|\\(?:leq|geq|neq|approx|equiv|sim)(?![A-Za-z])")


def holds_one(gathered: Shape) -> bool:
    """True for a set of one member, which is not the empty set."""
    return len(gathered.members) == 1 and gathered.members[0].text != "\\emptyset"


def without_repeats(members: list[Shape]) -> list[Shape]:
    """The members of a set, each once."""
    kept: list[Shape] = []
    for item in members:
        if not any(same_text(item.text, other.text) for other in kept):
            kept.append(item)
    return kept


_NUMBERED = re.compile(r"(\\?[A-Za-z]{1,10})_\{(\d)\}")


def unnumbered(members: list[Shape]) -> list[Shape]:
    """`x=2, x=5` for `x_1=2, x_2=5`: solutions that are numbered, in any order."""
    found = [_NUMBERED.fullmatch(item.name) for item in members]
    names = {match[1] for match in found if match}
    if len(names) != 1 or len({match[2] for match in found if match}) != len(members):
        return members
    return [replace(item, name=min(names)) for item in members]


_SCALED = re.compile(r"(.{1,60}?)(?:\\cdot ?)?(\\begin\{pmatrix\}.*\\end\{pmatrix\})", re.DOTALL)
_AXES = "ijk"


def in_one_notation(gold: Shape, answer: Shape) -> tuple[Shape, Shape]:
    """Both, the one that is no plain tuple or matrix in the notation of the one that is."""
    shapes = [_multiplied(gold), _multiplied(answer)]
    kinds = [shape.kind for shape in shapes]
    for at, wanted in ((0, shapes[1]), (1, shapes[0])):
        size = _size(wanted)
        members = None
        if size and kinds[at] is not wanted.kind:
            members = _coordinates(shapes[at], wanted, size)
        if members is not None:
            shapes[at] = replace(wanted, members=members)
            break
    return shapes[0], shapes[1]


def _size(shape: Shape) -> int:
    """The number of coordinates of a tuple, or of a matrix of one row or column; else 0."""
    one_row = shape.kind is AnswerShape.MATRIX and shape.brackets in {"1", str(len(shape.members))}
    pair = shape.kind is AnswerShape.TUPLE and shape.brackets == "()"
    return len(shape.members) if one_row or pair else 0


def _coordinates(shape: Shape, wanted: Shape, size: int) -> tuple[Shape, ...] | None:
    if shape.kind is AnswerShape.LIST and wanted.kind is AnswerShape.TUPLE:
        order = in_order([item.name for item in shape.members])
        named = order is not None and tuple(shape.members[at] for at in order)
        return tuple(replace(item, name="") for item in named) if named else None
    if shape.kind is AnswerShape.LEAF and size in {2, 3}:
        return _along_axes(shape.text, size)
    return shape.members if _size(shape) == size else None


def _along_axes(text: str, size: int) -> tuple[Shape, ...] | None:
    """The coordinates of `2i-j`."""
    found: dict[str, str] = {}
    factor, depth = "", 0
    for token in SCAN.findall(text):
        depth += (token in {"(", "{", "["}) - (token in {")", "}", "]"})
        if token not in _AXES[:size] or depth:
            factor += token
            continue
        if token in found or (found and factor[:1] not in {"+", "-"}):
            return None
        factor = factor.removeprefix("+").removesuffix("\\cdot ")
        found[token] = f"{factor}1" if factor in {"", "-"} else factor
        factor = ""
    if factor or not found.keys() & {"j", "k"}:  # `i` alone is the imaginary unit
        return None
    return tuple(read_shape(found.get(axis, "0")) for axis in _AXES[:size])


def _multiplied(shape: Shape) -> Shape:
    """A matrix with the factor before it taken into its cells."""
    if shape.text.endswith((")^{T}", "]^{T}")):
        row = read_shape(shape.text.removesuffix("^{T}"))
        row = replace(row, brackets="()") if row.brackets == "[]" else row
        return replace(row, name=shape.name) if row.kind is AnswerShape.TUPLE else shape
    found = _SCALED.fullmatch(shape.text) if shape.kind is AnswerShape.LEAF else None
    matrix = read_shape(found[2]) if found else shape
    if found is None or matrix.kind is not AnswerShape.MATRIX:
        return shape
    cells = tuple(read_shape(_product(found[1], cell.text)) for cell in matrix.members)
    return replace(matrix, members=cells, name=shape.name)


def _product(factor: str, cell: str) -> str:
    if factor == "-":
        factor = "-1"
    numbers = [read_number(text) for text in (factor, cell)]
    if numbers[0] is None or numbers[1] is None:
        return f"({factor})\\cdot ({cell})"
    value: Fraction = numbers[0].value * numbers[1].value
    sign = "-" if value < 0 else ""
    whole = value.denominator == 1
    return f"{value}" if whole else f"{sign}\\frac{{{abs(value.numerator)}}}{{{value.denominator}}}"
