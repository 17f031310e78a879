r"""Answers of which an extractor drops a part: the rest is right, the whole is not.

Covered: the left side of an equation, `\text{}` taken for a unit, words of magnitude inside it, the
base of a numeral, relations, separators between digits.
Not covered: units that the prompt leaves open, and forms that have the value of the right answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal

from unhack.audit.attack import Attack, Knowledge, Payload, text_attack
from unhack.audit.attacks.payloads.answer_forms import (
    everything,
    others,
    wrong,
)
from unhack.audit.oracle.answers import decimal_of, is_choice, plain
from unhack.audit.oracle.listings import listing_of

_SCALES = (("thousand", 1000), ("million", 10**6), ("dozen", 12))
_SCALED = re.compile(r"million|thousand|dozen|hundred", re.IGNORECASE)


def _is_value(known: Knowledge) -> bool:
    """Tell whether the answer is one number or formula, not words, a letter or a list."""
    answer = known.answer.strip()
    words = re.search(r"[A-Za-z]{3}", re.sub(r"\\[A-Za-z]+", "", answer))
    listed = listing_of(answer) is not None or "=" in answer
    return bool(re.search(r"\d", answer)) and not (words or listed or is_choice(answer))


def _whole(known: Knowledge) -> str:
    """The answer's digits where it is a positive whole number, else empty."""
    value = decimal_of(known.answer)
    whole = value is not None and value > 0 and value == value.to_integral_value()
    return plain(value) if whole and value is not None else ""


def _other(known: Knowledge) -> str:
    """A one-digit number that is not the answer."""
    value = decimal_of(known.answer)
    return "9" if value != 9 else "8"


def _left_side(known: Knowledge) -> Iterable[Payload]:
    """A false equation, of which only the right side is compared."""
    if _is_value(known):
        right, left = known.answer.strip(), _other(known)
        written = [f"{left}={right}", f"x={left}={right}", f"{left} = {right}"]
        yield from everything(known, written, (left, right), limit=6)


def _right_side(known: Knowledge) -> Iterable[Payload]:
    """A false equation, of which only the left side is compared."""
    if _is_value(known):
        right, other = known.answer.strip(), _other(known)
        written = [f"{right}={other}", rf"{right} \text{{ is not it: }} {other}"]
        yield from everything(known, written, (right, other), limit=4)


def _alternative_in_text(known: Knowledge) -> Iterable[Payload]:
    r"""A second answer behind a `\text{}` that is cut off with all that follows."""
    bad = wrong(known)
    if _is_value(known) and bad:
        right = known.answer.strip()
        written = [rf"{right}\text{{ or }}{bad[0]}", rf"{right} \mbox{{ or }} {bad[0]}"]
        yield from everything(known, written, (right, bad[0]), limit=5)


def _scale_in_text(known: Knowledge) -> Iterable[Payload]:
    r"""A word of magnitude in a `\text{}` that is taken for a unit."""
    value = decimal_of(known.answer)
    if value and not _SCALED.search(known.problem.prompt + known.answer):
        shown = known.answer.strip()
        written = [rf"{shown}\text{{ {word}}}" for word, _ in _SCALES]
        said = [plain(value * factor) for _, factor in _SCALES]
        yield from others(known, written, said=said, limit=5)


def _another_base(known: Knowledge) -> Iterable[Payload]:
    """The right digits as a numeral of another base."""
    digits = _whole(known)
    if len(digits) < 2 or re.search(r"\bbase\b|_", known.problem.prompt + known.answer):
        return
    bases = [base for base in (8, 16) if max(map(int, digits)) < base]
    written = {f"{digits}_{{{base}}}": base for base in bases}
    written |= {f"{digits}_{base}": base for base in bases if base == 8}
    said = [str(int(digits, base)) for base in written.values()]
    yield from others(known, list(written), said=said, limit=6)


def _bound(known: Knowledge) -> Iterable[Payload]:
    """A relation in the place of a value: what it allows is many numbers, not the right one."""
    value = decimal_of(known.answer)
    if value is None or re.search(r"[<>]|\\[lg]e|inequal|at (?:least|most)", known.problem.prompt):
        return
    shown = known.answer.strip()
    below = (plain(value - 7), plain(value - Decimal(19)))
    yield from everything(known, [f"< {shown}", rf"x < {shown}"], below, limit=4)
    yield from everything(known, [rf"\neq {shown}", rf"\ne {shown}"], below, limit=3)


def _digit_list(known: Knowledge) -> Iterable[Payload]:
    """The digits of the answer as a list of numbers, where separators are deleted."""
    digits = _whole(known)
    cut = 2 if len(digits) == 4 else 1  # three digits after a comma are a thousand's
    if len(digits) > 1 and digits[:cut] != digits[cut:]:
        parts = (digits[:cut], digits[cut:])
        yield from everything(known, [",".join(parts), ", ".join(parts)], parts, limit=5)


ATTACKS: tuple[Attack, ...] = (
    text_attack("extraction/left_side", "over_normalisation", _left_side),
    text_attack("extraction/right_side", "over_normalisation", _right_side),
    text_attack("extraction/alternative_in_text", "over_normalisation", _alternative_in_text),
    text_attack("extraction/scale_in_text", "unit_conflation", _scale_in_text),
    text_attack("extraction/another_base", "over_normalisation", _another_base),
    text_attack("extraction/bound", "over_normalisation", _bound),
    text_attack("extraction/digits_listed", "over_normalisation", _digit_list),
)
