"""Relations of a line: chains of sides joined by `=` and `≈`, found between words.

Covered: several relations in a line, alternatives (`or`), a line that goes on with `=`, words of
equality behind a calculation ("10% of 45, which is 4.5"), units on plain numbers.
Not covered: inequalities; lines that hold no relation are words.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from unhack_suites.derivations import algebra
from unhack_suites.derivations.algebra import Unreadable
from unhack_suites.derivations.expressions import Expression, read
from unhack_suites.derivations.notation import UNITS, unit_of, without_units

Functions = Mapping[str, tuple[str, str]]
_SPLIT = re.compile(r"([=≈≗≙])")
_ARROWS = re.compile(r"<?=+>|⇒|→|⟹|->|∴|⇔")
_CLAUSE = re.compile(
    r"\s*(?:;|,(?=\s)|\b(?:and|or|so|then|hence|since|because|thus|therefore)\b"
    r"|(?<=[\d)])\.(?=\s)|:(?=\s))\s*",
    re.IGNORECASE,
)
_PIECE = re.compile(
    r"\d+(?:\.\d+)?(?:\.\.\.)?|\.\d+|choose\(\s*\d+\s*;\s*\d+\s*\)|sqrt|pi|π|[^\W\d_π]+|[-+*/^()!%√±]|\s+"
    r"|."
)
_MAX_SIDES, _MAX_DIGITS = 12, 40
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:\s*/\s*\d+(?![\d.]))?\s*%?")


@dataclass(frozen=True, slots=True)
class Relation:
    """Sides in a row; each is given by one expression, or by two where it holds `±`."""

    sides: tuple[tuple[Expression, ...], ...]
    signs: tuple[str, ...]
    """`=` or `≈` between each side and the next."""
    units: tuple[str, ...] = ()
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
    last: str = ""
    """The side with which the next line may go on."""


def read_line(text: str, functions: Functions, *, before: str = "") -> ReadLine:
    """The relations of a line in plain notation. `before` is the side that a line beginning with
    `=` goes on from."""
    text = _ARROWS.sub(" ; ", text).strip()
    if re.match(r"[=≈]", text):
        text = f"{before} {text}" if before else text[1:]
    found: list[Relation] = []
    words: list[str] = []
    unread, last = "", ""
    several = bool(re.search(r"\bor\b", text))
    for clause in _clauses(text):
        sides = _sides(clause)
        if sides is None:
            words.append(clause)
            continue
        texts, signs = sides
        last = texts[-1]
        try:
            relation = _relation(texts, signs, functions)
        except Unreadable as error:
            unread = unread or str(error)
            continue
        found.append(Relation(relation.sides, relation.signs, relation.units, several))
    if not last:
        whole = without_units(text)
        last = whole if _is_math(whole) else ""
    return ReadLine(tuple(found), tuple(words), unread, last)


def numbers_of(text: str) -> list[Fraction]:
    """The numbers of a text of words; a percentage is given with its sign's meaning too."""
    found: list[Fraction] = []
    for match in _NUMBER.finditer(text):
        plain = match[0].replace(" ", "")
        if len(plain) > _MAX_DIGITS:
            continue
        try:
            value = Fraction(plain.removesuffix("%"))
        except (ValueError, ZeroDivisionError):
            continue
        found.append(value)
        if plain.endswith("%"):
            found.append(value / 100)
    return found


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


def _sides(clause: str) -> tuple[list[str], list[str]] | None:
    """(sides, signs) of a clause with a relation; None for words."""
    pieces = _SPLIT.split(clause)
    texts, signs = pieces[0::2], pieces[1::2]
    if not signs or len(texts) > _MAX_SIDES:
        return None
    first, *rest = texts
    kept = [_run(first, last=True), *(_run(piece, last=False) for piece in rest)]
    plain: list[str] = []
    for sign in signs:
        plain.append({"≗": "=", "≙": "≈"}.get(sign, sign))
    if signs[0] in "≗≙" and not re.search(r"[-+*/^√!%]", kept[0].strip().lstrip("-")):
        kept, plain = kept[1:], plain[1:]  # "the sum of 3 and 4 is 7" says nothing of 4
    if plain and not kept[0]:
        kept, plain = kept[1:], plain[1:]  # words have the value: `the total = 3 · 4 = 12`
    return (kept, plain) if plain else None


def _run(piece: str, *, last: bool) -> str:
    """The calculation at the begin, or with `last` at the end, of a piece between words; a number
    with a unit keeps it."""
    if unit_of(piece.strip().rstrip(".")):
        return piece.strip().rstrip(".")
    tokens = _PIECE.findall(without_units(piece))
    tokens = tokens[::-1] if last else tokens
    kept: list[str] = []
    for number, token in enumerate(tokens):
        if not _belongs(token, tokens, number, last=last):
            if kept or token.strip():
                if not any(one.strip() for one in kept) and not last:
                    continue  # words before the calculation, as in `= about 5`
                break
            continue
        kept.append(token)
    run = "".join(kept[::-1] if last else kept).strip()
    if not last:
        unit = re.match(r"\s*-?[\d.]+\s+([a-z]+)\b", piece)
        if unit and unit[1] in UNITS and re.fullmatch(r"-?[\d.]+", run):
            return f"{run} {unit[1]}"
    return _balanced(run, last=last)


def _belongs(token: str, tokens: Sequence[str], number: int, *, last: bool) -> bool:
    """True for a token of a calculation."""
    if token.isspace() or token in ("sqrt", "pi") or token.startswith("choose("):
        return True
    if token.isalpha() and token != "√":
        if len(token) > 1:
            return False
        if token not in ("a", "A", "I") or (last and not "".join(tokens[:number]).strip()):
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


def _is_math(text: str) -> bool:
    try:
        read(text)
    except Unreadable:
        return False
    return True


def _relation(texts: list[str], signs: list[str], functions: Functions) -> Relation:
    sides: list[tuple[Expression, ...]] = []
    units = [unit_of(text) for text in texts]
    same = len({UNITS[unit][0] for unit in units if unit}) == 1 and all(units)
    for text, unit in zip(texts, units, strict=True):
        bare = re.sub(rf"\s*\b{unit}\b\s*$", "", text) if unit else text
        made = [read(bare, functions)]
        if "±" in bare:
            made.append(read(bare, functions, sign=-1))
        if same:
            made = [_in_base(one, Fraction(UNITS[unit][1])) for one in made]
        sides.append(tuple(made))
    return Relation(tuple(sides), tuple(signs), tuple(units))


def _in_base(one: Expression, factor: Fraction) -> Expression:
    """The number of a side in the base unit, so that sides in two units can be compared."""
    value = algebra.multiply(one.value, algebra.number(factor))
    return Expression(value, f"{one.shape}*{factor}", one.numbers, 1 if factor != 1 else 0)
