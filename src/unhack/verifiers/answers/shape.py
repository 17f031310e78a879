r"""The parts of a spelled answer: lists, sets, pairs and intervals, ratios, matrices, quantities.

`read_shape` takes a text from `spelling` apart at its outermost separators, so that what a parser
of LaTeX drops is compared part by part: how often a member of a list stands in it, brackets, the
order of a pair, the sides of a ratio or a clock, units, the name that an answer is given to.

Covered: `a, b \text{ and } c`, `a \text{ or } b`, `a \pm b` (two members), `\{a, b\}`, `(a, b]`,
`a:b:c`, matrices, `x = a`, `x \in a`, `a \text{ cm}^2`, `a^\circ`, `\$a`, inequalities in one name
as intervals (`a < x \le b`, `x < a \text{ or } x > b`, `\{x \mid x > a\}`). Linear time for each
level of brackets, of which there are at most `spelling.MAX_DEPTH`.
Not covered: what a part means; that is compared by `equivalence`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import StrEnum

from unhack.verifiers.answers.style import in_order, same_text
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


_SCAN = re.compile(
    r"\\begin\{[A-Za-z*]+\}|\\end\{[A-Za-z*]+\}|\\text\{[^{}]*\}|\\[A-Za-z]+ ?|\\.|.", re.DOTALL
)
_OPENING = frozenset(["(", "[", "{", "\\{", "\\langle", "\\lfloor", "\\lceil"])
_CLOSING = frozenset([")", "]", "}", "\\}", "\\rangle", "\\rfloor", "\\rceil"])
_AND = frozenset(["\\text{and}", "\\text{or}", ",", ";"])


def _split(text: str, separators: frozenset[str]) -> list[str]:
    """The parts of `text` between separators that stand in no brackets."""
    parts = [""]
    depth = 0
    for token in _SCAN.findall(text):
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
    tokens = [token.rstrip() for token in _SCAN.findall(text)]
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


_LETTER = r"(?:\\[A-Za-z]+|[A-Za-z])(?:_\{[^{}]{1,20}\})?'{0,4}"
_NAMED = re.compile(
    rf"({_LETTER}(?:\([A-Za-z0-9,]{{1,20}}\))?|[f-hkF-H]\^\{{-1\}}\([a-z]\)|\({_LETTER}(?:,{_LETTER}){{1,8}}\))"
    r"\s?(?:=|\\in(?![A-Za-z]) ?)(.+)",
    re.DOTALL,
)
_NAMED_LAST = re.compile(rf"(.{{1,500}})=({_LETTER})", re.DOTALL)
_EITHER_SIGN = re.compile(r"\\pm(?![A-Za-z]) ?")
_MAX_MEMBERS = 64


def read_shape(text: str) -> Shape:
    """The shape of a spelled text."""
    parts = [part for part in _split(text, _AND) if part]
    if len(parts) > _MAX_MEMBERS:
        return Shape(AnswerShape.LEAF, text)
    if len(parts) > 1:
        first, *others = map(_read_part, parts)
        members = [first, *others]
        if first.name and not any(item.name for item in others):
            members = [replace(first, name=""), *others]
            return Shape(AnswerShape.LIST, text, _spread(members), name=first.name)
        return Shape(AnswerShape.LIST, text, _spread(members))
    return _read_part(parts[0] if parts else text)


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
    if len(_EITHER_SIGN.findall(text)) == 1 and "\\mp" not in text and "\\text" not in text:
        both = [_EITHER_SIGN.sub(sign, text) for sign in "+-"]
        members = tuple(_read_part(item.removeprefix("+")) for item in both)
        return Shape(AnswerShape.LIST, text, members)
    sides = _split(text, frozenset(":"))
    if 1 < len(sides) <= _MAX_MEMBERS and all(sides):
        *others, last = sides
        end = _without_unit(last)
        members = tuple(map(read_shape, [*others, end.text]))
        return Shape(AnswerShape.RATIO, text, members, unit=end.unit)
    found = _enclosed(text)
    return _read_enclosed(text, *found) if found else _without_unit(text)


def _read_enclosed(text: str, left: str, inner: str, right: str) -> Shape:
    members = _split(inner, frozenset([",", ";"]))
    if left == "\\{" and right == "\\}":
        if len(members) > _MAX_MEMBERS or any(mark in inner for mark in ("|", "\\in", ":")):
            return Shape(AnswerShape.LEAF, text)
        return Shape(AnswerShape.SET, text, _spread([read_shape(item) for item in members if item]))
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
        rows = _split(text[15:-13], frozenset(["\\\\"]))
        cells = [_split(row, frozenset("&")) for row in rows]
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
_ORDERS = frozenset(["<", ">", "\\leq", "\\geq"])
_NAME = re.compile(_LETTER)
_BUILDER = re.compile(rf"\\\{{({_LETTER})(?:\\in ?\\mathbb\{{R\}})?[|:](.*)\\\}}", re.DOTALL)
_MEMBER = re.compile(rf"({_LETTER})\\in ?(.+)", re.DOTALL)


def as_interval(text: str) -> tuple[str, str]:
    """The name that a spelled inequality bounds and the interval; two blanks for other texts."""
    built = _BUILDER.fullmatch(text)
    if built:
        text = built[2]
    pieces = _split(text, frozenset(["\\text{or}", "\\vee", "\\cup"]))
    found = [_bounds(piece) for piece in pieces]
    points = [_POINT.fullmatch(piece) for piece in pieces]
    if any(name for name, _ in found):
        found = [
            (at[1], f"\\{{{at[2]}\\}}") if at else one
            for one, at in zip(found, points, strict=True)
        ]
    names = {name for name, _ in found}
    if len(names) != 1 or "" in names or (built and built[1] not in names):
        return "", ""
    return names.pop(), "\\cup ".join(interval for _, interval in found)


_POINT = re.compile(rf"({_LETTER})=([^=<>]{{1,100}})")
_AROUND = re.compile(
    rf"({_LETTER})\\neq ?([^\s|<>=]{{1,60}})|\|({_LETTER})\|(<|>|\\[lg]eq ?)([\d./]{{1,40}})"
)


def _is_name(side: str) -> bool:
    return _NAME.fullmatch(side) is not None and side not in {"\\pi", "\\infty"}


def _bounds(text: str) -> tuple[str, str]:
    around = _AROUND.fullmatch(text)
    if around and around[1]:
        return around[1], f"(-\\infty,{around[2]})\\cup ({around[2]},\\infty)"
    if around:
        left, right = "[]" if "eq" in around[4] else "()"
        low, high = f"-{around[5]}", around[5]
        if around[4] == "<" or "leq" in around[4]:
            return around[3], f"{left}{low},{high}{right}"
        right, left = ("]", "[") if "eq" in around[4] else (")", "(")
        return around[3], f"(-\\infty,{low}{right}\\cup {left}{high},\\infty)"
    sides: list[str] = [""]
    orders: list[str] = []
    for token in _SCAN.findall(text):
        if token.rstrip() in _ORDERS:
            orders.append(token.rstrip())
            sides.append("")
        else:
            sides[-1] += token
    sides = [side.strip() for side in sides]
    if not orders or len(orders) > 2 or not all(sides) or "=" in text or "," in text:
        return "", ""
    at = next((at for at, side in enumerate(sides) if _is_name(side)), -1)
    if at < 0 or (len(orders) == 2 and at != 1):
        return "", ""
    name = sides[at]
    if any(_is_name(side) for side in sides if side != name):
        return "", ""
    if len(orders) == 2 and (orders[0] in {"<", "\\leq"}) != (orders[1] in {"<", "\\leq"}):
        return "", ""
    low, high, left, right = "-\\infty", "\\infty", "(", ")"
    for index, order in enumerate(orders):
        before = at > index
        value = sides[index] if before else sides[index + 1]
        if (order in {"<", "\\leq"}) == before:
            low, left = value, "[" if order.startswith("\\") else "("
        else:
            high, right = value, "]" if order.startswith("\\") else ")"
    return name, f"{left}{low},{high}{right}"


def holds_one(gathered: Shape) -> bool:
    """True for a set of one member, which is not the empty set."""
    return len(gathered.members) == 1 and gathered.members[0].text != "\\emptyset"


def as_coordinates(gold: Shape, answer: Shape) -> tuple[Shape, Shape]:
    """A list of named coordinates as a tuple, where the other one is a tuple: `x=4, y=-1`."""
    shapes = [gold, answer]
    kinds = [shape.kind for shape in shapes]
    if sorted(kinds) == [AnswerShape.LIST, AnswerShape.TUPLE]:
        at = kinds.index(AnswerShape.LIST)
        members = shapes[at].members
        order = in_order([item.name for item in members])
        if order is not None and shapes[1 - at].brackets == "()":
            ordered = tuple(replace(members[index], name="") for index in order)
            shapes[at] = replace(shapes[1 - at], members=ordered)
    return shapes[0], shapes[1]


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


_SIDES = frozenset(["=", "\\approx"])
_CALLED = re.compile(
    r"(?:\\?[A-Za-z]{1,10}|\\text\{[^{}]{1,40}\})\(.*\)|\|.*\|"
    r"|\\(?:sin|cos|tan|cot|sec|csc|ln|log|lg)(?:[\d./(){} ]|_\{|\^\{\\circ\}|\\pi|\\frac)+",
    re.DOTALL,
)
_ARITHMETIC = re.compile(r"(?:[-\d.,+*/^(){}!]|\\(?:cdot|times|frac|sqrt)(?![A-Za-z]) ?)+")
_NUMBERS = re.compile(r"(?:[-\d.,+*/^(){}!i ]|\\(?:cdot|times|frac|sqrt|pi)(?![A-Za-z]))+")
_BELOW = re.compile(r"_\{[^{}]*\}")
_NUMERAL = re.compile(r"-?[\d.,]+")
_BARE_LETTER = re.compile(r"\\[A-Za-z]+|([A-Za-z])")
_MAX_SIDES = 4


def stated(answer: Shape) -> Shape:
    """The value that is stated: 5 of `BC=5`, `P(A)=5`, `2+3=5` and `A=2\\cdot 2.5=5`. An
    equation that has to be solved first, `x+1=6`, is left as it is."""
    sides = _split(answer.text, _SIDES)
    if answer.kind is not AnswerShape.LEAF or not 1 < len(sides) <= _MAX_SIDES or not all(sides):
        return answer
    *others, last = sides
    plain = not RELATION.search("".join(sides)) and "\\in " not in answer.text
    if not plain or not all(_is_called(side) or _is_computed(side) for side in others):
        return answer
    if _is_computed(others[0]) and _NUMERAL.fullmatch(last) is None:
        return answer
    inner = read_shape(last)
    return replace(inner, unit=answer.unit or inner.unit)


def concluded(text: str) -> str:
    """The last of several numbers that are said to be equal; any other text as it is."""
    *others, last = text.split("=")
    told = len(others) < _MAX_SIDES and all(map(_NUMBERS.fullmatch, (*others, last)))
    return last if told and (len(others) > 1 or not any(_BARE_LETTER.findall(text))) else text


def _is_called(side: str) -> bool:
    """A name, an expression of letters alone, or a function of anything."""
    letters = "\\text" in side or any(_BARE_LETTER.findall(side))
    plain = letters and not any(map(str.isdigit, _BELOW.sub("", side)))
    return plain or _CALLED.fullmatch(side) is not None


def _is_computed(side: str) -> bool:
    return _ARITHMETIC.fullmatch(side) is not None and _NUMERAL.fullmatch(side) is None
