"""Units beside a number: one name for each, and which of them an answer may have.

Not covered: conversion; `5 cm` is no `0.05 m`.
"""

from __future__ import annotations

import re

from unhack.verifiers.answers.numerals import read_number

_UNIT_NAMES = {
    **dict.fromkeys(["cm", "centimetre"], "centimeter"),
    **dict.fromkeys(["m", "metre"], "meter"),
    **dict.fromkeys(["km", "kilometre"], "kilometer"),
    **dict.fromkeys(["mm", "millimetre"], "millimeter"),
    **dict.fromkeys(["in", "inches"], "inch"),
    **dict.fromkeys(["ft", "feet"], "foot"),
    **dict.fromkeys(["h", "hr"], "hour"),
    **dict.fromkeys(["s", "sec"], "second"),
    "min": "minute",
    "kg": "kilogram",
    "g": "gram",
    "lb": "pound",
    "oz": "ounce",
    "L": "liter",
    "litre": "liter",
    "^{\\circ}": "degree",
    "deg": "degree",
    "mi": "mile",
    "\\$": "dollar",
    "$": "dollar",
    "€": "euro",
    "£": "sterling",
    "yd": "yard",
    "n": "newton",
    "N": "newton",
    "J": "joule",
    "W": "watt",
    "V": "volt",
    "K": "kelvin",
    "rad": "radian",
    "¥": "yen",
    "usd": "dollar",
    "mph": "mile per hour",
    "kph": "kilometer per hour",
    "USD": "dollar",
}
_DEGREES = {
    **dict.fromkeys(["degree c", "degree celsiu"], "degree C"),
    **dict.fromkeys(["degree f", "degree fahrenheit"], "degree F"),
}
_POWERS = {"square": "^2", "sq": "^2", "squared": "^2", "cubic": "^3", "cubed": "^3"}


def unit_name(text: str) -> str:
    """One spelling of a unit, with words in the singular."""
    text = text.replace("^{\\circ}", " \\degree ").replace("\\cdot", " ")
    text = re.sub(r"\\text\{([^{}]*)\}", r" \1 ", text)
    text = re.sub(r"\^\{(-?\d)\}", r"^\1", text).replace("/", " per ").replace("\\degree", "degree")
    words: list[str] = []
    power = ""
    for word in text.replace(" ^", "^").replace(".", "").split():
        if word in _POWERS:
            power = _POWERS[word]
            if word.endswith("ed"):
                words, power = [*words[:-1], (words or [word])[-1] + (power if words else "")], ""
            continue
        base, _, raised = word.partition("^")
        single = base[:-1] if len(base) > 2 and base.endswith("s") and base[-2] != "s" else base
        single = _UNIT_NAMES.get(base, _UNIT_NAMES.get(single, single))
        words.append(single + (f"^{raised}" if raised else power))
        power = ""
    below = [word.replace("^-", "^").removesuffix("^1") for word in words if "^-" in word]
    above = [word for word in words if "^-" not in word]
    name = " ".join([*above, *(f"per {word}" for word in below)] if above else words)
    return _DEGREES.get(name, name)


def in_radians(text: str, unit: str, beside: tuple[str, str]) -> str | None:
    """The multiple of pi that a number of degrees is, beside one: `90^\\circ` for `\\pi/2`."""
    number = read_number(text) if unit == "degree" else None
    if number is None or "\\pi" not in beside[0] or beside[1] not in {"", "radian"}:
        return None
    turn = number.value / 180
    below = f"/{turn.denominator}" if turn.denominator > 1 else ""
    return f"{turn.numerator}\\pi{below}" if turn.numerator != 1 else f"\\pi{below}"


_FREE = frozenset(["degree", "dollar", "euro", "sterling", "yen"])
"""Units that an answer may have where the gold answer has none."""


_NO_UNIT = frozenset({
    "or", "and", "to", "by", "than", "more", "less", "least", "most", "fewer", "as", "at", "not",
    "no", "if", "when", "where", "is", "are", "plus", "minus", "times", "half", "third", "quarter",
    "fourth", "fifth", "tenth", "hundredth", "thousandth", "dozen", "hundred", "thousand",
    "million", "billion", "trillion", "squared", "cubed", "factorial", "wrong",
    "incorrect", "false",
})  # fmt: skip
"""Words beside a number, in the singular, that change its value or say something else."""


def unit_fits(gold: str, answer: str, *, any_unit: bool) -> bool:
    """True where an answer may have this unit: that of the gold answer, or none; one that is plain
    words where the gold answer has none and `any_unit` holds."""
    if gold or not any_unit:
        return answer in {"", gold, gold.partition(" of ")[0]} or (not gold and answer in _FREE)
    words = answer.partition("^")[0].split()
    return all(len(word) > 1 or not word.islower() or word in "mgs" for word in words) and (
        _NO_UNIT.isdisjoint(words)
    )


UNITS = re.compile(
    r"(?:(?:[cdkmnM]?[mghsLNJVWAKT]|[kMG]?(?:Hz|Pa|eV)|erg|rad|mol)"
    r"(?:\^[-\d{}]+)?(?:/| | ?\\cdot |\Z))+"
)
"""Symbols of units, multiplied or divided."""
_SYMBOL = (
    r"(?:[pnumckMGd]?(?:m|g|s|L|J|N|V|W|A|K|T|C|F|M|H|Hz|Pa|eV|mol|cal|bar)|[kM]?pc|amu|arcsec|arcmin|erg"
    r"|dyn|AU|ly|min|h|hr|yr|atm|sec|rad|rpm|mph|ppm)(?:\^\{?-?\d\}?)?"
)
_UNIT_APART = re.compile(
    r"(\A[-+]?[\d.,]{1,40}(?: ?(?:\\times|\\cdot|\*|x) {0,2}10\^(?:\{-?\d{1,4}\}|-?\d{1,4}))?"
    r"|\A[-+]?10\^(?:\{-?\d{1,4}\}|-?\d{1,4}))"
    rf" ({_SYMBOL}(?:(?:/| | ?\* ?| ?\\cdot ){_SYMBOL}){{0,3}})\Z"
)
"""A number and, set off by a space, symbols of units."""
_UNIT_BEHIND = re.compile(
    r"(?:(?<=\d)(cm|km|mm|kg)"
    r"|(?<=[\dA-Z] )((?:k?g|[ckm]?m|rad|J|N)/(?:s|h|mol|K|m|kg)|[kMG]?(?:eV|Hz|Pa))"
    r"|(10\^(?:\{-?\d{1,4}\}|-?\d{1,3}) ?)([munk]?[msgJNWV]|K|[kMG]?(?:Hz|Pa|eV)|erg|rad))"
    r"(?=(?:\^\{?-?\d\}?)?(?:/[a-z]{1,3}(?:\^\{?\d\}?)?)?\Z)"
)
"""A unit that ends the answer, `7.4 \\times 10^{-12} m`."""


_SPELLED = re.compile(r"(?<![\\A-Za-z])[A-Za-z]{1,6}")


def with_marked_unit(text: str) -> str:
    """A written answer whose unit, which no space or font sets off, is one by its place."""
    text = _UNIT_APART.sub(
        lambda at: at[1] + _SPELLED.sub(r"\\text{ \g<0>}", at[2].replace("*", " ")), text
    )
    return _UNIT_BEHIND.sub(lambda at: f"{at[3] or ''}\\text{{ {at[1] or at[2] or at[4]}}}", text)
