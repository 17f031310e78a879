"""A number with its unit, or several that add up (`1 h 30 min`), as a value in the base unit."""

from __future__ import annotations

import re
from fractions import Fraction

from unhack_contests.reward_hacking.harden.drawn.truth.numbers import number, plainer

Quantity = tuple[Fraction, str]
"""Value in the base unit, and what is measured."""


def _units() -> dict[str, Quantity]:
    table: dict[str, Quantity] = {}
    prefixes = {"": (Fraction(1), ""), "k": (Fraction(1000), "kilo"), "c": (Fraction(1, 100),
    "centi"),
                "m": (Fraction(1, 1000), "milli"), "d": (Fraction(1, 10), "deci")}  # fmt: skip
    kinds = {"m": ("length", ("metre", "meter")), "g": ("mass", ("gram", "gramme")),
             "l": ("volume", ("litre", "liter"))}  # fmt: skip
    for short, (kind, names) in kinds.items():
        for prefix, (factor, spelled) in prefixes.items():
            table[prefix + short] = (factor, kind)
            for name in names:
                table[spelled + name] = table[f"{spelled}{name}s"] = (factor, kind)
    for names, factor in (
        ("s sec second seconds", 1), ("min mins minute minutes", 60),
        ("h hr hrs hour hours", 3600), ("d day days", 86400),
    ):  # fmt: skip
        for name in names.split():
            table[name] = (Fraction(factor), "time")
    for names, factor, kind in (
        ("t tonne tonnes", Fraction(10**6), "mass"),
        ("m3 m^3 m³ m^{3} cubic_metre cubic_metres cubic_meters", Fraction(1000), "volume"),
        ("cm3 cm^3 cm³ cm^{3} cc cubic_centimetres cubic_centimeters", Fraction(1, 1000), "volume"),
        ("dm3 dm^3 dm³ dm^{3}", Fraction(1), "volume"),
    ):
        for name in names.split():
            table[name] = (factor, kind)
    return table


UNITS = _units()
_JOINED = re.compile(
    r"(.+?) ?(?<![a-z\\])("
    + "|".join(sorted(map(re.escape, UNITS), key=len, reverse=True))
    + r")(?![a-z0-9^/{])\.?(?:\s*,\s*|\s+and\s+|\s+|$)"
)


def quantity(text: str) -> Quantity | None:
    """The value of a text that is a quantity and nothing else; None for any other."""
    text = plainer(text).lower().replace("cubic ", "cubic_")
    sign = 1
    if text.startswith(("minus ", "-")):
        sign, text = -1, re.sub(r"^(?:minus |-)\s*", "", text)
    total, kinds, at, last = Fraction(0), set[str](), 0, None
    while at < len(text):
        found = _JOINED.match(text, at)
        value = number(found.group(1)) if found else None
        if found is None or value is None or value < 0:
            return None
        factor, kind = UNITS[found.group(2)]
        if last is not None and (factor >= last or value * factor >= last):
            return None
        total, last, at = total + value * factor, factor, found.end()
        kinds.add(kind)
    return (sign * total, kinds.pop()) if len(kinds) == 1 else None
