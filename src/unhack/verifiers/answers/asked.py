r"""The unit that a question asks for, beside a gold answer that has none.

    How many hours …?  the length (in cm)  Answer in $\AA$  to the nearest thousand kilometers

`is_asked` refuses another unit of the same kind: `35 minutes` where hours are asked. A question
that asks for no unit of that kind must name the one of the answer or none: `12 cents` is no answer
to one about `\$`. The question is trusted text; at most `MAX_QUESTION_CHARS` of it are read.

Not covered: conversion; questions that name no unit of the kind, for which each unit is right.
"""

from __future__ import annotations

import re
from functools import lru_cache

from unhack.verifiers.answers.units import unit_name

MAX_QUESTION_CHARS = 20_000
_KINDS = [
    frozenset(names.split())
    for names in (
        "fm pm nm um angstrom micrometer nanometer millimeter centimeter decimeter meter kilometer"
        " inch foot yard mile light lightyear parsec kpc mpc au",
        "ns ms us millisecond microsecond nanosecond second minute hour day week month year decade",
        "cent dollar euro sterling yen",
        "mg milligram gram kilogram pound ounce ton tonne",
        "kelvin celsiu fahrenheit",
        "ev kev mev gev joule kj kilojoule calorie kcal erg",
        "milliliter ml liter gallon quart pint",
        "newton kn dyne",
        "pa kpa mpa atm bar",
        "hz khz mhz ghz",
        "volt mv kv",
        "degree radian arcsecond arcminute",
    )
]
"""Units of one kind each, in the singular as `unit_name` makes it."""
_NAMES = {
    "aa": "angstrom",
    "pc": "parsec",
    "psec": "parsec",
    "penny": "cent",
    "pennie": "cent",
    "arcsec": "arcsecond",
    "arcmin": "arcminute",
    "deg": "degree",
    "rad": "radian",
}
_ASKED = re.compile(
    r"(?:\bmany|\bin|\bnearest|\bnumber of)(?:[\s~]{1,4}(?:a|the|whole|tenth|hundredth|hundred|ten"
    r"|of|thousand|million|total|more|full|units|degrees|square|cubic)(?![A-Za-z])){0,4}"
    r"[\s~]{1,4}[$\\{(]{0,3}(?:(?:text|mathrm)\{)?([A-Za-z]{1,20})"
)
_WORD = re.compile(r"[A-Za-z]{2,20}")
_SIGNS = {"€": "euro", "£": "sterling", "¥": "yen"}
_MONEY = re.compile(r"\\?\$(?=[.\d])")


def is_asked(unit: str, question: str) -> bool:
    """False where `question` asks for another unit of the same kind, or names only others."""
    name = _named(unit.replace("-", " ").partition(" ")[0].partition("^")[0])
    kind = next((kind for kind in _KINDS if name in kind), frozenset[str]())
    asked, named = (kind & units for units in _units_of(question))
    if asked or not kind:
        return not kind or name in asked
    return name in named or not named or (name == "dollar" and named <= {"cent"})


@lru_cache(maxsize=64)
def _units_of(question: str) -> tuple[frozenset[str], frozenset[str]]:
    """The names that may be units that `question` asks for, and all that it holds."""
    question = question[-MAX_QUESTION_CHARS:]
    money = [name for sign, name in _SIGNS.items() if sign in question]
    money += ["dollar"] if _MONEY.search(question) else []
    return (
        frozenset(map(_named, _ASKED.findall(question))),
        frozenset([*map(_named, _WORD.findall(question)), *money]),
    )


def asks_percent(question: str) -> bool:
    """True where the answer is to be a number of percent."""
    return _OF_PERCENT.search(question[-MAX_QUESTION_CHARS:]) is not None


_OF_PERCENT = re.compile(r"(?<![\d\\])(?<!\d[ \\~-])(?:\\?%|percent)", re.IGNORECASE)
"""A percent that is no part of what is given, `10\\%`."""


def asks_several(question: str) -> bool:
    """True where `60,180` may be two numbers: one for each of several."""
    return re.search(r"\beach\b|\brespectively\b", question[-MAX_QUESTION_CHARS:]) is not None


def asks_dimensions(question: str) -> bool:
    """True where `6\\times 10` is the size of something and no product."""
    return "dimension" in question[-MAX_QUESTION_CHARS:].casefold()


_LEFT_OUT = re.compile(r"[\s${}]|\\left|\\right")
_VERBS = ("compute", "find", "evaluate", "determine", "whatis", "valueof", "valuesof", "calculate")
_MAX_SIDE = 40


def asks_for(side: str, question: str) -> bool:
    """True where `question` asks for what stands on the left of an equation: "compute $x^2$"."""
    if len(side) > _MAX_SIDE:
        return False
    told, wanted = _closed_up(question), _LEFT_OUT.sub("", side)
    behind = (part for verb in _VERBS for part in told.split(verb + wanted)[1:])
    return any(part[:1] in {"", ".", "?", ",", ";"} for part in behind)


@lru_cache(maxsize=64)
def _closed_up(question: str) -> str:
    text = _LEFT_OUT.sub("", question[-MAX_QUESTION_CHARS:])
    return re.sub("Compute|Find|Evaluate|Determine|What|Calculate", lambda at: at[0].lower(), text)


def _named(word: str) -> str:
    name = unit_name(word).casefold()
    if not any(name in kind for kind in _KINDS):
        name = unit_name(word.casefold())
    return _NAMES.get(name, name)
