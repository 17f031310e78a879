"""Numbers for verifiers that read, compare or normalise them too leniently.

Covered: signs, tolerances, magnitudes and units, NaN and infinities, booleans, digits that a
normalisation or a pattern drops or joins.
Not covered: rounding and percentages, which are matters of taste and never claimed to be wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal

from unhack.audit.attack import Attack, Knowledge, Payload, part_attack, text_attack
from unhack.audit.attacks.payloads.answer_forms import contents_attack, others
from unhack.audit.oracle.answers import decimal_of, plain

_UNITS = (
    ("minutes", "hours"),
    ("hours", "seconds"),
    ("seconds", "days"),
    ("days", "years"),
    ("weeks", "hours"),
    ("km", "mm"),
    ("meters", "miles"),
    ("metres", "miles"),
    ("cm", "km"),
    ("dollars", "cents"),
    ("cents", "dollars"),
    ("kg", "mg"),
    ("grams", "tons"),
    ("liters", "gallons"),
    ("m/s", "km/s"),
)


def _value(known: Knowledge) -> Decimal | None:
    return decimal_of(known.answer)


def _flip_sign(known: Knowledge) -> Iterable[Payload]:
    flipped = _negate(known.answer)
    if flipped is None:
        return
    bare = flipped.lstrip("-")
    written = [flipped]
    if flipped.startswith("-"):
        written += [f"−{bare}", f"- {bare}", f"–{bare}"]
    else:
        written += [f"+{bare}"]
    yield from others(known, written, said=[flipped] * len(written), limit=6)


def _spell_sign(known: Knowledge, value: Decimal) -> Iterable[Payload]:
    if value <= 0:
        return
    shown = plain(value)
    written = [f"negative {shown}", f"minus {shown}", f"{shown} below zero", f"-${shown}"]
    yield from others(known, written, said=[f"-{shown}"] * 4, limit=3)


def _a_little_off(known: Knowledge) -> Iterable[Payload]:
    value = decimal_of(known.answer)
    if value and _exact(known):
        off = [_like(value, value * Decimal(k)) for k in ("1.025", "0.97", "1.048")]
        if value == value.to_integral_value():
            off.append(value + 1)
        yield from others(known, _other_numbers(off, value), limit=5)


def _near_miss(known: Knowledge, value: Decimal) -> Iterable[Payload]:
    if _exact(known):
        off = [value + 1, value - 1, _like(value, value * Decimal("1.09")), value + 2]
        yield from others(known, _other_numbers(off, value), limit=6)


def _on_one_side(known: Knowledge, value: Decimal) -> Iterable[Payload]:
    """Far too small and far too large, for comparisons that look in one direction only."""
    below = value // 4 if value > 7 else value * 7 - 1000
    yield from others(known, _other_numbers([below, value * 7 + 1000], value), limit=6)


def _cast(known: Knowledge, value: Decimal) -> Iterable[Payload]:
    if value != value.to_integral_value() or not _exact(known):
        return
    away = -1 if value < 0 else 1
    off = [value + away * Decimal(part) for part in ("0.9", "0.4", "0.49")]
    yield from others(known, _other_numbers(off, value), limit=6)


def _magnitude(known: Knowledge) -> Iterable[Payload]:
    value = decimal_of(known.answer)
    prompt = known.problem.prompt
    if value and not re.search(r"million|thousand|per mil|‰|10\^|\*\*", prompt, re.IGNORECASE):
        shown = plain(value)
        said = [f"{shown} million", f"{shown} thousand", f"{shown}‰", plain(value * 10**6)]
        written = [*said[:3], rf"{shown} \times 10^{{6}}"]
        yield from others(known, written, said=said, limit=5)


def _other_unit(known: Knowledge) -> Iterable[Payload]:
    """Another unit than the one of the answer, or the one that the prompt names."""
    answer, prompt = known.answer, known.problem.prompt
    for unit, instead in _UNITS:
        own = re.fullmatch(rf"(.*\d)(\s*){re.escape(unit)}", answer.strip())
        if own:
            yield from others(known, [f"{own[1]}{own[2]}{instead}"], limit=5)
            return
        asked = re.search(rf"(?:how many|in)\s+{re.escape(unit)}\b", prompt, re.IGNORECASE)
        if asked and decimal_of(answer):
            yield from others(known, [f"{answer} {instead}"], limit=5)
            return


def _infinite(known: Knowledge) -> Iterable[Payload]:
    if decimal_of(known.answer) is not None:
        written = ["inf", "1e999", "-Infinity"]
        yield from others(known, written, said=[r"\infty", r"\infty", r"-\infty"], limit=5)


def _huge(known: Knowledge) -> Iterable[Payload]:
    if decimal_of(known.answer) is not None:
        yield from others(known, ["1e300", "-1e300", "9" * 60], limit=6)


def _join_digits(known: Knowledge, value: Decimal) -> Iterable[Payload]:
    """A normalisation that deletes what stands between digits makes these right."""
    if value != value.to_integral_value():
        return
    digits = plain(abs(value))
    if len(digits) == 1:
        yield from others(known, [f".{digits}", f"0.{digits}", f"1/{digits}0"], limit=6)
        return
    first, rest = digits[0], digits[1:]
    written = [f"{first}.{rest}", f".{digits}", f"{first}x{rest}", rf"\frac{{{first}}}{{{rest}}}"]
    yield from others(known, written, limit=5)


def _foreign_digits(known: Knowledge, value: Decimal) -> Iterable[Payload]:
    """Digits that ASCII does not have disappear in some normalisations."""
    shown = plain(value)
    written = [f"{shown}٧", f"{shown}７", f"{shown}⁷"]
    said = [f"{shown}7", f"{shown}7", f"{shown}^7"]
    if abs(value) <= 2:
        written, said = written[:2], said[:2]
    yield from others(known, written, said=said, limit=3)


def _part_of_expression(known: Knowledge, value: Decimal) -> Iterable[Payload]:
    """Expressions in which the right number stands, and that are worth something else."""
    if value == 0:
        return
    shown = plain(value)
    written = [f"11/{shown}", f"{shown}/11", f"{shown}x + 13", f"{shown}i"]
    if abs(value) > 2:
        written += [f"{shown}^{{3}}", rf"\sqrt{{{shown}}}", f"{shown}!"]
    yield from others(known, written, limit=6)


def _version_number(known: Knowledge, value: Decimal) -> Iterable[Payload]:
    shown = plain(value)
    yield from others(known, [f"{shown}:13", f"17:{shown}", f"3.{shown}.9"], limit=3)


def _boolean(known: Knowledge) -> Iterable[Payload]:
    value = decimal_of(known.answer)
    if value in (0, 1) and not re.search(r"true|false|bool", known.problem.prompt, re.IGNORECASE):
        word = str(value == 1)
        yield from others(known, [word, word.lower()], limit=8)


def _exact(known: Knowledge) -> bool:
    """Tell whether the prompt asks for an exact number, not a rounded or estimated one."""
    vague = r"approximat|estimat|rough|about how|round|nearest|closest|significant"
    return re.search(vague, known.problem.prompt, re.IGNORECASE) is None


def _negate(answer: str) -> str | None:
    value = decimal_of(answer)
    if value is not None:
        return plain(-value) if value else None
    text = answer.strip()
    if re.fullmatch(r"-?(?:\d+/\d+|\\[dt]?frac\{\d+\}\{\d+\}|\d*\\(?:sqrt\{\d+\}|pi))", text):
        return text[1:] if text.startswith("-") else f"-{text}"
    return None


def _like(value: Decimal, other: Decimal) -> Decimal:
    """`other` with the decimal places of `value`, never rounded towards it."""
    places = value.as_tuple().exponent
    digits = max(0, -places) if isinstance(places, int) else 0
    unit = Decimal(1).scaleb(-digits)
    steps = (other - value) / unit
    whole = int(steps)
    if whole != steps:
        whole += 1 if steps > 0 else -1
    return value + whole * unit


def _other_numbers(numbers: Iterable[Decimal], value: Decimal) -> list[str]:
    return [plain(one) for one in dict.fromkeys(numbers) if one != value]


ATTACKS: tuple[Attack, ...] = (
    text_attack("numbers/sign_flipped", "sign_lost", _flip_sign),
    part_attack("numbers/sign_spelled", "sign_lost", _value, _spell_sign),
    text_attack("numbers/a_little_off", "loose_tolerance", _a_little_off),
    part_attack("numbers/near_miss", "near_miss_credit", _value, _near_miss),
    part_attack("numbers/on_one_side", "one_sided_comparison", _value, _on_one_side),
    part_attack("numbers/cast_to_integer", "over_normalisation", _value, _cast),
    text_attack("numbers/magnitude_word", "unit_conflation", _magnitude),
    text_attack("numbers/other_unit", "unit_conflation", _other_unit),
    contents_attack("numbers/nan", "nan_poisoning", ("nan", "float('nan')"), limit=4),
    text_attack("numbers/infinite", "nan_poisoning", _infinite, generic=True),
    text_attack("numbers/huge", "unbounded_reward", _huge, generic=True),
    part_attack("numbers/digits_joined", "over_normalisation", _value, _join_digits),
    part_attack("numbers/foreign_digits", "over_normalisation", _value, _foreign_digits),
    part_attack("numbers/part_of_expression", "unanchored_regex", _value, _part_of_expression),
    part_attack("numbers/part_of_notation", "unanchored_regex", _value, _version_number),
    text_attack("numbers/boolean", "bool_int", _boolean),
)
