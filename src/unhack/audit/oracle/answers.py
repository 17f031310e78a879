r"""Wrong answers of the same kind as the right one, and what kind an answer is.

Covered: integers, decimals, fractions, numbers with a unit or a name before them, choice letters,
yes/no and other pairs, words, lists, tuples, sets, intervals, matrices, dates, LaTeX expressions.
Not covered: sentences, which get words that have nothing to do with them; spelled-out numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from decimal import Decimal, InvalidOperation
from fractions import Fraction

from unhack.audit.oracle.listings import (
    CORE,
    MONTHS,
    Listing,
    is_date,
    listing_of,
    order_matters,
)
from unhack.audit.oracle.oracle import TextOracle, normal, number
from unhack.audit.subject import json_of

MAX_WRONG_ANSWERS = 12
_SURE = ("turnip", "walrus", "umbrella", "velvet", "pelican", "quartz", "lantern", "meadow")
_PAIRS = (
    "yes no",
    "true false",
    "valid invalid",
    "correct incorrect",
    "even odd",
    "positive negative",
    "possible impossible",
    "increasing decreasing",
    "entailment contradiction",
    "left right",
    "up down",
)
_UNDECIDED = ("maybe", "neither", "both", "unknown", "cannot be determined", "not stated")
_DULL = frozenset(
    re.findall(
        r"\w+",
        "the and for that with what which who how many much does did are was were has have had "
        "this from into than then they them their you your can will not but one answer question "
        "put give final find each its his her all any boxed box tags letter only after reply",
    )
)
_QUANTITY = re.compile(rf"(?P<before>[^\d\w]*?)(?P<core>{CORE})(?P<after>\s*[^\d()\[\]{{}}^+*/=]*)")
_FRACTION = re.compile(
    r"(?P<sign>-?)(?:(?P<a>\d+)\s*/\s*(?P<b>\d+)"
    r"|\\[dt]?frac\{(?P<sign2>-?)(?P<c>\d+)\}\{(?P<d>\d+)\})"
)
_NAMED = re.compile(r"(?P<name>[A-Za-z]\w*(?:\([a-z]\))?\s*=\s*)(?P<rest>[^=]+)")
_OPTION = re.compile(r"(?:^|[\s(\[*])\(?([A-J])(?:[).:\]]|\s*[-–]\s)")


def wrong_answers(answer: str, *, prompt: str = "") -> tuple[str, ...]:
    """At most 12 different answers of the kind of `answer`, none of them right; always the same.

    The first one shares as little as possible with the right one. None for a blank answer.
    """
    answer = answer.strip()
    if not normal(answer):
        return ()
    found: dict[str, str] = {}
    for candidate in _candidates(answer, prompt):
        key = normal(candidate)
        same = _same_number(candidate, answer) or _same_object(candidate, answer)
        if key and key != normal(answer) and not same:
            found.setdefault(key, candidate)
        if len(found) == MAX_WRONG_ANSWERS:
            break
    return tuple(found.values())


def _same_object(one: str, other: str) -> bool:
    """Tell whether two texts are the same JSON object, of each key its last value."""
    value = json_of(one) if one.startswith("{") else None
    return value is not None and value == json_of(other)


def decimal_of(answer: str) -> Decimal | None:
    """The exact, finite number that an answer is, its currency or percent sign left out."""
    cleaned = re.sub(r"(?<=\d),(?=\d{3}\b)", "", answer.strip().strip("$€£% "))
    try:
        value = Decimal(cleaned.replace("−", "-"))
    except InvalidOperation:
        return None
    return value if value.is_finite() else None


def plain(value: Decimal) -> str:
    """A number as people write it: no exponent unless it is very long, no sign for zero."""
    if value == 0:
        return "0"
    text = format(value, "f") if abs(value.adjusted()) < 40 else str(value)
    return text.rstrip("0").rstrip(".") if "." in text and "E" not in text else text


def offered_choices(prompt: str) -> tuple[str, ...]:
    """The letters of the options that a prompt lists; none where it lists fewer than two."""
    found = tuple(dict.fromkeys(_OPTION.findall(prompt)))
    return found if len(found) > 1 else ()


def is_choice(answer: str) -> bool:
    """Tell whether an answer is one capital letter from A to J."""
    return re.fullmatch(r"\(?[A-J]\)?\.?", answer.strip()) is not None


def opposite(answer: str) -> str:
    """The other one of a pair such as yes and no, in the same case; empty where there is none."""
    folded = normal(answer)
    for pair in _PAIRS:
        one, other = pair.split()
        if folded in (one, other):
            return _with_case(other if folded == one else one, answer)
    return ""


def _candidates(answer: str, prompt: str) -> Iterator[str]:
    named = _NAMED.fullmatch(answer)
    wrapped = re.fullmatch(r"(\\(?:text|textbf|mathrm|mathbf)\{)([^{}]+)(\})", answer)
    fraction = _FRACTION.fullmatch(answer)
    quantity = _QUANTITY.fullmatch(answer)
    listing = listing_of(answer)
    if is_choice(answer):
        letters = (*offered_choices(prompt), *"ABCDEFGHIJ")
        yield from (re.sub(r"[A-J]", letter, answer) for letter in letters[: MAX_WRONG_ANSWERS + 1])
    elif opposite(answer):
        yield opposite(answer)
        yield from (_with_case(word, answer) for word in _UNDECIDED)
    elif wrapped:
        for rest in wrong_answers(wrapped[2], prompt=prompt):
            yield f"{wrapped[1]}{rest}{wrapped[3]}"
    elif named:
        for rest in wrong_answers(named["rest"], prompt=prompt):
            yield f"{named['name']}{rest}"
    elif fraction:
        yield from _fractions(fraction)
    elif quantity:
        yield from _quantities(quantity)
    elif listing is not None:
        yield from _listings(listing, prompt)
    elif is_date(answer) or not _is_expression(answer):
        yield from _texts(answer, prompt)
    else:
        yield from _expressions(answer)


def _quantities(match: re.Match[str]) -> Iterator[str]:
    before, core, after = match["before"], match["core"], match["after"]
    value = decimal_of(core)
    if value is None:
        return
    for other in _others(value):
        text = f"{other:,f}" if "," in core and "e" not in core.lower() else plain(other)
        yield f"{before}{text}{after}"


def _others(value: Decimal) -> Iterator[Decimal]:
    """Numbers far, near, and easily mistaken; the near ones are clearly more than rounding."""
    exponent = value.as_tuple().exponent
    places = -exponent if isinstance(exponent, int) and exponent < 0 else 0
    size = abs(value)
    if places:
        step = size * Decimal("0.03")
        ulp = Decimal(1).scaleb(-places)
        near = max(step - step % ulp + ulp, ulp)
    else:
        near = max(Decimal(1), size * 3 // 100 + 1)
    shown = plain(value)
    far = [value + (7 + size // 3) * k for k in (1, 2, 3, 5)]
    unlike = [one for one in far if shown not in plain(one) and plain(one) not in shown]
    yield from unlike[:1] or far[:1]
    yield from (value + near, value - near, -value)
    yield from (Decimal(0), Decimal(1))
    yield from (value * 2, value * 10, value + 13 + size, value - 11 - size, value * 7 + 3)
    yield from far


def _fractions(match: re.Match[str]) -> Iterator[str]:
    top, below = int(match["a"] or match["c"]), int(match["b"] or match["d"])
    if not below:
        return
    negative = bool(match["sign"]) is not bool(match["sign2"])
    right = Fraction(-top if negative else top, below)
    near = [(3 * top + 2, 2 * below + 3), (below, top), (top + 1, below), (top, below + 1)]
    more = [(2 * top + 1, below), (top, 3 * below + 1), (top + 3, below + 5), (top + 7, below + 1)]
    for sign, pairs in ((negative, near), (not negative, [(top, below)]), (negative, more)):
        for a, b in pairs:
            if b and Fraction(-a if sign else a, b) not in (right, right * 100, right / 100):
                latex = rf"\frac{{{a}}}{{{b}}}" if match["c"] else f"{a}/{b}"
                yield ("-" if sign else "") + latex


def _listings(listing: Listing, prompt: str) -> Iterator[str]:
    items = list(listing.items)
    changed = [_other_item(item) for item in items]
    yield listing.write(changed)
    yield listing.write([*items[:-1], changed[-1]])
    yield listing.write([changed[0], *items[1:]])
    if len(items) > 1 or listing.before:
        yield listing.write(items[:-1])
        yield listing.write(items[1:])
    if order_matters(listing, prompt) and items[::-1] != items:
        yield listing.write(items[::-1])
        yield listing.write([*items[1:], items[0]])
    more = [_other_item(item) for item in changed]
    yield listing.write(more)
    extra = more[-1]
    if extra not in items:
        yield listing.write([*items, extra])
        yield listing.write([extra, *items])
    yield listing.write([*changed, extra])


def _other_item(item: str) -> str:
    inner = listing_of(item)
    if inner is not None and inner.items:
        return inner.write([*inner.items[:-1], _other_item(inner.items[-1])])
    bare = item.strip("'\"")
    found = wrong_answers(bare) if bare else ()
    value = decimal_of(bare)
    if value is not None:
        return item.replace(bare, plain(value + 2))
    if re.fullmatch(r"[A-Za-z]", bare):
        return item.replace(bare, chr(ord(bare) + (2 if bare in "ABCDEFGabcdefg" else -2)))
    bumped = next(_bump(item), "")
    return bumped or (item.replace(bare, found[0]) if found else "7")


def _expressions(answer: str) -> Iterator[str]:
    if "infty" in answer or "infinity" in answer.lower():
        yield from ("0", "1", "-1", "2", "10", "17")
        return
    if re.search(r"[<>]|\\[lg]eq?\b|=|,", answer):
        yield from (answer.replace("<", sign).replace(">", sign) for sign in "<>=")
        yield from _bump(answer)
        return
    yield from list(_bump(answer))[:5]
    yield f"{answer} + 1"
    yield f"-({answer})" if len(answer) > 1 else f"-2{answer}"
    yield f"{answer} - 3"
    yield rf"\frac{{{answer}}}{{3}}"
    yield f"({answer}) + 17"
    yield f"{answer} + 5"


def _bump(text: str) -> Iterator[str]:
    """The text with one of its numbers changed, the last one first."""
    found = list(re.finditer(r"\d+", text))
    for step in (1, 4, 11, 30):
        for match in reversed(found):
            digits = match[0]
            moved = int(digits) - step
            value = moved if moved > 0 and len(digits) > 1 else int(digits) + step
            yield text[: match.start()] + str(value).zfill(len(digits)) + text[match.end() :]


def _texts(answer: str, prompt: str) -> Iterator[str]:
    for at, month in enumerate(MONTHS):
        if month in answer:
            yield answer.replace(month, MONTHS[(at + 5) % 12])
    yield from list(_bump(answer))[:6]
    if is_date(answer):
        return
    own = {word.casefold() for word in re.findall(r"\w+", answer)}
    yield from (_with_case(word, answer) for word in _SURE[:3] if word not in own)
    yield from list(_prompt_words(prompt, own))[:5]
    yield from (_with_case(word, answer) for word in _SURE[3:] if word not in own)


def _prompt_words(prompt: str, own: set[str]) -> Iterable[str]:
    words = re.findall(r"(?<![\w\\<{/])[A-Za-z][A-Za-z'-]{2,}", prompt)
    names = [word for word in words[1:] if word[0].isupper()]
    for word in dict.fromkeys([*names, *words]):
        if word.casefold() not in own and word.casefold() not in _DULL:
            yield word


def _same_number(given: str, answer: str) -> bool:
    """Tell whether both are numbers that may be the same, without starting a worker."""
    if number(given) is None or number(answer) is None:
        return False
    return TextOracle().same(given, answer)


def _is_expression(text: str) -> bool:
    if re.search(r"[\\^_=+*/<>]", text):
        return True
    return not re.search(r"[A-Za-z]{3}", text) and bool(re.search(r"\d|^[a-z]$", text))


def _with_case(word: str, like: str) -> str:
    if like.isupper() and len(like) > 1:
        return word.upper()
    return word.capitalize() if like[:1].isupper() else word
