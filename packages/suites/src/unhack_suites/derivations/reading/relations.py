"""Relations of a line: chains of sides joined by `=` and `≈`, found between words.

Covered: several relations in a line, alternatives (`or`), a line that goes on with `=`, words of
equality behind a calculation ("10% of 45, which is 4.5"), units on plain numbers.
Not covered: inequalities; lines that hold no relation are words.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from unhack_suites.derivations.reading.algebra import Unreadable
from unhack_suites.derivations.reading.bounds import INEQUALITIES, Bound, bound_of
from unhack_suites.derivations.reading.equalities import holds
from unhack_suites.derivations.reading.expressions import Expression, exact, read
from unhack_suites.derivations.reading.units import amount_of, without_marks

Functions = Mapping[str, tuple[str, str]]
_SPLIT = re.compile(r"([=≈≗≙])")
_COMPARED = re.compile(f"([{INEQUALITIES}])")
_ARROWS = re.compile(r"<?=+>|⇒|→|⟹|->|∴|⇔")
_CLAUSE = re.compile(
    r"\s*(?:;|,(?=\s)|\b(?:and|or|so|then|hence|since|because|thus|therefore|means|implies|yields)\b"
    r"|\bgives\b(?=\s*[A-Za-z]\s*=)"
    r"|(?<=[\d)⟧])\.(?=\s)|(?<=[\d)⟧]) \.(?=\s)|(?<=[a-z][a-z])\.(?=\s[A-Z])|:(?=\s))\s*",
    re.IGNORECASE,
)
_PIECE = re.compile(
    r"\d+(?:\.\d+)?(?:\.\.\.)?|\.\d+"
    r"|(?:choose|gcd|lcm|log|sin|cos|tan|series|floor|ceil)\([\d.;/^ ]*\)"
    r"|⟦[^⟧]*⟧|sqrt|pi|π|[^\W\d_π]+|[-+*/^()!%√±]|\s+"
    r"|."
)
_MAX_SIDES, _MAX_DIGITS = 12, 40
_LONE = r"\s*[\d.]+\s*(?:⟦[^⟧]*⟧)?\s*"
_LABEL = re.compile(
    r"\b(?!(?:so|then|thus|hence|therefore|get|have|that|is|are|since|because|gives|and|or|now|also"
    r"|note|find|obtain|check|answer|exactly|with)\b)[a-z]{2,} ?[\d.]+ ?(?:⟦[^⟧]*⟧)? ?$",
    re.IGNORECASE,
)
"""A number that a word in front of it makes a name."""
_REJECTED = re.compile(r"reject|discard|extraneous|impossible|invalid|not (?:possible|valid)", re.I)
_SIGNS = r"(?:[^A-Za-z⟦]|⟦[^⟧]*⟧)*"
_BETWEEN = re.compile(
    rf"({_SIGNS}[\d)](?:⟦[^⟧]*⟧)?) (?:[A-Za-z]{{2,}} )(?:[A-Za-z]+ )*({_SIGNS}\d{_SIGNS})"
)
_MOST_BETWEEN = 200
_SOFT = re.compile(r"\s*[\d.]+%?\s*≗|\s*[\d.]+\s*\^\s*\(?\d+\)?\s*≗")
_SAME_THING = re.compile(
    r"\W*\d[\d.]* (?P<one>[A-Za-z]{2,})\s*=\s*\d[\d.]* ?(?:⟦[^⟧]*⟧|(?!(?P=one)\b)[A-Za-z]{2,})"
    r"\s*[.!]?\s*"
)
"""`3 boxes = 36 bottles`: no two numbers are equal there."""
_UNREAD = {"log", "ln", "lg", "sin", "cos", "tan", "exp", "lim", "sum", "int", "|", "∑", "∫", "_"}
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+(?:\.\.\.)?)?(?:\s*/\s*\d+(?![\d.]))?\s*%?")


@dataclass(frozen=True, slots=True)
class Relation:
    """Sides in a row; each is given by one expression, or by two where it holds `±`."""

    sides: tuple[tuple[Expression, ...], ...]
    signs: tuple[str, ...]
    """`=` or `≈` between each side and the next."""
    alternative: bool = False
    """True where the line gives it as one of several cases."""


@dataclass(frozen=True, slots=True)
class ReadLine:
    """A line as far as it was read."""

    relations: tuple[Relation, ...]
    words: tuple[str, ...]
    """Its parts without a relation."""
    unread: str = ""
    """Why a relation could not be read."""
    bounds: tuple[Bound, ...] = ()
    tried: tuple[tuple[str, str], ...] = ()
    """Sides that are not read while their name has no value, as `4^x` and `64`."""
    spoken: tuple[Expression, ...] = ()
    """Expressions with names between its words."""
    last: str = ""
    """The side with which the next line may go on."""


def read_line(text: str, functions: Functions, *, before: str = "") -> ReadLine:
    """The relations of a line in plain notation. `before` is the side that a line beginning with
    `=` goes on from."""
    text = _PRODUCT.sub(lambda found: " ".join(found[0]), text)
    lone = set(_LONE_NAME.findall(text))
    text = _TOGETHER.sub(lambda found: _apart(found[0], lone), _ARROWS.sub(" ; ", text).strip())
    if re.match(r"[=≈]", text):
        text = f"{before} {text}" if before else text[1:]
    found: list[Relation] = []
    words: list[str] = []
    bounds: list[Bound] = []
    tried: list[tuple[str, str]] = []
    unread, last = "", ""
    several = bool(re.search(r"\bor\b", text))
    for clause in [part for one in _clauses(text) for part in _unchained(one)]:
        pair: tuple[str, str] | None = None
        try:
            if _REJECTED.search(clause):
                words.append(clause)
                continue
            near = _bounds(clause, functions)
            bounds += near
            if near:
                continue
            sides = _sides(clause)
            if sides is None:
                words.append(clause)
                last = _side(_SPLIT.split(clause)[-1], last=True, many=True) or last
                continue
            last = sides[0][-1]
            pair = (without_marks(sides[0][0]), without_marks(last))
            relation = _relation(*sides, functions)
        except Unreadable as error:
            unread = unread or str(error)
            tried += [pair] if pair else []
            continue
        if relation is None:
            words.append(clause)
        else:
            found.append(replace(relation, alternative=several))
    spoken = _spoken(words, functions) if not found and not unread else ()
    return ReadLine(tuple(found), tuple(words), unread, tuple(bounds), tuple(tried), spoken, last)


def _bounds(clause: str, functions: Functions) -> list[Bound]:
    """The inequalities of a clause that has no equality."""
    pieces = _COMPARED.split(clause)
    if not 1 < len(pieces) <= _MAX_SIDES or _SPLIT.search(clause):
        return []
    first, *rest = pieces[0::2]
    texts = [_run(first, last=True), *(_run(piece, last=False) for piece in rest)]
    sides = [read(without_marks(text), functions) for text in texts if text]
    if len(sides) < len(texts):
        return []
    pairs = zip(sides, sides[1:], pieces[1::2], strict=False)
    found = [bound_of(one, other, sign) for one, other, sign in pairs]
    return [one for one in found if one is not None]


def _spoken(words: Sequence[str], functions: Functions) -> tuple[Expression, ...]:
    made: list[Expression] = []
    for part in [one for clause in words for one in _NAMED_SUM.findall(clause)][:8]:
        try:
            made.append(read(part, functions))
        except Unreadable:
            continue
    return tuple(made)


def numbers_of(text: str) -> list[Fraction]:
    """The numbers of a text of words; a percentage is given with its sign's meaning too."""
    found: list[Fraction] = []
    for match in _NUMBER.finditer(without_marks(text)):
        plain = match[0].replace(" ", "")
        if len(plain) > _MAX_DIGITS:
            continue
        try:
            value = exact(plain) if "..." in plain else Fraction(plain.removesuffix("%"))
        except (ValueError, ZeroDivisionError):
            continue
        found.append(value)
        if plain.endswith("%"):
            found.append(value / 100)
    return found


_LONE_NAME = re.compile(r"(?<![A-Za-z])[a-z](?![A-Za-z])")
_NAMED_SUM = re.compile(
    r"(?<![\w.])(?:\d+(?:\.\d+)? ?\*? ?[b-z]|[a-z] ?[-+*/] ?\d+(?:\.\d+)?"
    r"|\d+(?:\.\d+)? ?[-+] ?[b-z])(?![\w(])"
)
_PRODUCT = re.compile(
    r"(?<=[-=+*/(])(?: |(?<! ))(?!(?:is|of|or|in|to|at|by|no|so|if|as|an|on|up|he|it|we|am|pm)\b)"
    r"(?:[a-z]{2}|lwh|[Pp]rt)(?= ?(?:[-+*/=^),.;]|$))"
)
"""Two names next to each other in a formula: `y = kx + 2`."""
_TOGETHER = re.compile(r"(?<![A-Za-z\\⟦/])[a-z]{2,3}(?![A-Za-z⟧])")


def _apart(letters: str, lone: set[str]) -> str:
    """Names of a product that are written together, as in `rs = 4`, or `4ac`."""
    return " ".join(letters) if set(letters) <= lone and letters not in ("is", "as") else letters


_ONES = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_WORDS = {
    **{word: number for number, word in enumerate(_ONES.split(), start=1)},
    **{word: 10 * number for number, word in enumerate(_TENS.split(), start=2)},
    "dozen": 12,
    "hundred": 100,
    "thousand": 1000,
}
_MONTHS = re.compile(r"\b(?:January|February|March|April|June|July|August|September|October"
                     r"|November|December)\b")  # fmt: skip


def numbers_in_words(text: str) -> list[Fraction]:
    """Numbers that are spelled out; where months are named, the lengths that they have."""
    found: list[Fraction] = []
    before = 0
    for word in re.findall(r"[a-z]+", text.lower()):
        number = _WORDS.get(word, 0)
        found += [Fraction(number)] if number else []
        found += [Fraction(before + number)] if before >= 20 and 0 < number < 10 else []
        before = number
    return [*found, *map(Fraction, range(28, 32))] if _MONTHS.search(text) else found


def _clauses(text: str) -> list[str]:
    """The parts of a line; brackets hold together."""
    parts: list[str] = []
    held, depth, at = "", 0, 0
    while at < len(text):
        match = _CLAUSE.match(text, at) if depth <= 0 else None
        if match is not None and match.end() > at and match[0].strip():
            parts.append(held)
            held, at = "", match.end()
            continue
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        held += text[at]
        at += 1
    return [*parts, held]


def _unchained(clause: str) -> list[str]:
    """The clause in parts where words stand between two calculations of one side: `with n = 15 the
    sum is 15^2 = 225`."""
    pieces = _SPLIT.split(clause)
    parts, held = list[str](), pieces[0]
    for at in range(1, len(pieces) - 1, 2):
        piece = pieces[at + 1]
        held += pieces[at]
        words = at + 2 < len(pieces) and len(piece) < _MOST_BETWEEN and _BETWEEN.fullmatch(piece)
        if words:
            parts.append(held + words[1])
            held = words[2]
        else:
            held += piece
    return [*parts, held]


def _sides(clause: str) -> tuple[list[str], list[str], bool] | None:
    """(sides, signs, True where the first number may be a label) of a clause with a relation; None
    for words."""
    pieces = _SPLIT.split(clause)
    texts, signs = pieces[0::2], pieces[1::2]
    if not signs or len(texts) > _MAX_SIDES or _SAME_THING.fullmatch(clause):
        return None
    first, *rest = texts
    many = len(texts) > len(("left", "right"))
    kept = [_side(first, last=True, many=many)]
    kept += [_side(piece, last=False, many=many and piece is not rest[-1]) for piece in rest]
    plain = [{"≗": "=", "≙": "≈"}.get(sign, sign) for sign in signs]
    for at in range(len(kept) - 1, 0, -1):
        if not re.search(r"[^\W_]", kept[at]) and re.search(r"[a-z]{2}", texts[at]):
            del kept[at], plain[at - 1]  # `speed = distance / time = 60`: a side in words
    if not plain:
        return None
    worded = signs[0] in "≗≙" and not re.search(r"[-+*/^√!%;]", kept[0].strip().lstrip("-"))
    labelled = bool(re.fullmatch(_LONE, kept[0]) and _LABEL.search(first))
    if worded or _SOFT.fullmatch(f"{kept[0]}{signs[0]}"):
        # "the sum of 3 and 4 is 7" says nothing of 4, and "Rate of pump 2 = 5" nothing of 2
        kept, plain = kept[1:], plain[1:]
    if plain and not kept[0]:
        kept, plain = kept[1:], plain[1:]  # words have the value: `the total = 3 · 4 = 12`
    return (kept, plain, labelled) if plain else None


def _side(piece: str, *, last: bool, many: bool) -> str:
    """The calculation of a side; empty for one of words, and with `many` for one that is not read:
    the chain goes on with its numbers."""
    try:
        run = _run(piece, last=last)
    except Unreadable:
        if not many:
            raise
        return ""
    return "" if re.match(r"[+*/]|- ", run) and re.search(r"[a-z]{2}", piece) else run


def _run(piece: str, *, last: bool) -> str:
    """The calculation at the begin, or with `last` at the end, of a piece between words. Raises
    Unreadable where a function that is not read stands next to it."""
    tokens = _PIECE.findall(piece)
    tokens = tokens[::-1] if last else tokens
    kept: list[str] = []
    for number, token in enumerate(tokens):
        if not _belongs(token, tokens, number, last=last):
            if token in _UNREAD or (token == "." and "..." in piece):
                raise Unreadable(f"{token!r} is not read")
            if kept or token.strip():
                if not any(one.strip() for one in kept) and not last:
                    continue  # words before the calculation, as in `= about 5`
                break
            continue
        kept.append(token)
    return _balanced("".join(kept[::-1] if last else kept).strip(), last=last)


def _belongs(token: str, tokens: Sequence[str], number: int, *, last: bool) -> bool:
    """True for a token of a calculation."""
    if (
        token.isspace()
        or token in ("sqrt", "pi")
        or token.startswith("⟦")
        or (token.endswith(")") and len(token) > 1)
    ):
        return True
    if token.isalpha() and token != "√":
        if len(token) > 1:
            return False
        if token not in ("a", "A", "I") or (last and not "".join(tokens[:number]).strip()):
            return True
        beside = tokens[max(0, number - 2) : number] if last else tokens[number + 1 : number + 3]
        if any(one in ("+", "*", "/", "^") for one in beside):
            return True
        near = [one for one in tokens[max(0, number - 2) : number + 3] if len(one) > 1]
        return not any(one.isalpha() for one in near)
    return bool(re.fullmatch(r"\d.*|\.\d+|[-+*/^()!%√±]", token))


def _balanced(run: str, *, last: bool) -> str:
    """The run without brackets that only the words around it close."""
    for _ in range(4):
        more = run.count("(") - run.count(")")
        if more > 0 and last and run.startswith("("):
            run = run[1:].strip()
        elif more > 0 and not last and run.endswith("("):
            run = run[:-1].strip()  # words in brackets follow
        elif more < 0 and not last and run.endswith(")"):
            run = run[:-1].strip()
        else:
            break
    return run


def _relation(
    texts: list[str], signs: list[str], labelled: bool, functions: Functions
) -> Relation | None:
    """The relation of sides; None where its first number is only a label."""
    sides: list[tuple[Expression, ...]] = []
    ends = (0, len(texts) - 1) if len(texts) == len(("left", "right")) else (len(texts) - 1,)
    kept = [
        at for at, text in enumerate(texts)
        if at in ends or not _is_formula(without_marks(text), functions)
    ]  # fmt: skip
    texts, signs = [texts[at] for at in kept], [signs[at - 1] for at in kept[1:]]
    for text in texts:
        bare = without_marks(text)
        made = [replace(read(bare, functions), amount=amount_of(text))]
        if "±" in bare:
            made.append(read(bare, functions, sign=-1))
        sides.append(tuple(made))
    if labelled and not sides[1][0].value.names() and not holds(sides[0][0], sides[1][0], signs[0]):
        sides, signs = sides[1:], signs[1:]
        if not signs:
            return None
    for at in range(1, len(sides) - 1):
        if sides[at + 1][0].amount and not sides[at][0].amount:
            sides[at] = (
                _in_unit_of(sides[at][0], (sides[at - 1][0], sides[at + 1][0])),
                *sides[at][1:],
            )
    scales = {side[0].scale for side in sides} - {None}
    if len(scales) > 1 and sides[0][0].value.names() and not sides[1][0].value.names():
        sides.append(sides.pop(0))  # `t = 8 months = 2/3 year`: the last one is its value
    return Relation(tuple(sides), tuple(signs))


def _is_formula(text: str, functions: Functions) -> bool:
    """True for a side with names that is not read, as a root of names."""
    try:
        read(text, functions)
    except Unreadable:
        return bool(re.search(r"[^\W\d_π]", text))
    return False


def _in_unit_of(one: Expression, near: Sequence[Expression]) -> Expression:
    """A bare number between amounts, in the unit of that neighbour with which it is right."""
    value, found = one.value.rational(), one
    for other in near:
        if value is not None and other.scale is not None and other.amount is not None:
            found = replace(one, amount=replace(other.amount, factor=value * other.scale))
            if near[0].amount is not None and found.amount == near[0].amount:
                break
    return found
