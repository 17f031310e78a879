"""Units behind numbers, so that amounts in two units can be compared.

    amount_of("2.5⟦h⟧ * 60")     # (150 h in seconds, a time)

`notation.plain` puts each known unit into marks, which `relations` keeps beside the number.

Covered: lengths, areas, volumes, masses, times, speeds, money, in words and in short, metric and
imperial; quotients ("km/h", "dollars per kg").
Not covered: rates between currencies, temperatures, units of physics; those are words.
"""

from __future__ import annotations

import re
from fractions import Fraction

from unhack_suites.derivations.reading.algebra import Unreadable
from unhack_suites.derivations.reading.expressions import UnitValue, read

_BASES = {
    # a letter for each dimension: names with their factors; longer ones with or without an s
    "각": "mm=.001 cm=.01 dm=.1 m=1 km=1000 millimetre=.001 millimeter=.001 centimetre=.01 "
    "centimeter=.01 metre=1 meter=1 kilometre=1000 kilometer=1000 ft=.3048 foot=.3048 feet=.3048 "
    "inch=.0254 inches=.0254 yd=.9144 yard=.9144 mi=1609.344 mile=1609.344",
    "각^2": "ha=10000 hectare=10000",
    "각^3": "ml=.000001 mL=.000001 cl=.00001 dl=.0001 l=.001 L=.001 litre=.001 liter=.001 "
    "millilitre=.000001 milliliter=.000001",
    "낙": "mg=.001 g=1 kg=1000 t=1000000 gram=1 kilogram=1000 tonne=1000000 lb=453.6 lbs=453.6 "
    "pounds=453.6 oz=28.35 ounce=28.35",
    "닥": "s=1 sec=1 second=1 min=60 minute=60 h=3600 hr=3600 hrs=3600 hour=3600 day=86400 "
    "week=604800",
    "락": "USD=1 dollar=1 cent=.01",
    "막": "EUR=1 euro=1",
    "박": "GBP=1",
    "각/닥": "mph=.44704",
    "낙*각/닥^2": "N=1000",
    "낙*각^2/닥^2": "J=1000 kJ=1000000 Wh=3600000 kWh=3600000000",
    "낙*각^2/닥^3": "W=1000 kW=1000000",
    "알": "kB=.001 MB=1 GB=1000 TB=1000000",
    "삭": "month=1 year=12 yr=12",
}
_IMPERIAL = {"ft", "foot", "feet", "inch", "inches", "yd", "yard", "mi", "mile", "lb", "oz"}
UNITS: dict[str, tuple[str, Fraction]] = {}
"""Name -> (base, factor)."""
for _base, _names in _BASES.items():
    for _name, _factor in (one.split("=") for one in _names.split()):
        UNITS[_name] = (_base, Fraction(_factor))
        if len(_name) > len("km"):
            UNITS.setdefault(f"{_name}s", UNITS[_name])
_NAMES = "|".join(sorted(UNITS, key=len, reverse=True))
_ONE = (
    rf"(?:(?P<word%s>square|sq\.?|cubic) )?(?P<unit%s>{_NAMES})(?![A-Za-z\d])"
    r"(?: ?\^ ?\(?(?P<power%s>[23])\)?)?"
)
_BELOW = rf"(?: ?(?:/|\bper\b) ?{_ONE % (('b',) * 3)})?(?![\w])"
_BEHIND = re.compile(rf"(?<=[\d)])(?P<gap>[ -]?){_ONE % (('a',) * 3)}{_BELOW}")
_MONEY = re.compile(rf"(?P<sign>[€£$]) ?(?P<number>\d[\d.]*){_BELOW}")
_MONEY_BEHIND = re.compile(rf"(?P<number>\d) ?(?P<sign>[€£]){_BELOW}")
_SIGNS = {"$": "USD", "€": "EUR", "£": "GBP"}
MARK = re.compile(r"⟦[^⟧]*⟧")
_MARKED = re.compile(r"(\d[\d.]*(?:/\d[\d.]*)?|\)) ?⟦([^⟧]*)⟧")


def with_marks(text: str) -> str:
    """The text with each unit behind a number in marks."""
    text = _MONEY.sub(_money, text)
    text = _MONEY_BEHIND.sub(_money, text)
    return _BEHIND.sub(_behind, text)


def _money(found: re.Match[str]) -> str:
    return f"{found['number']}⟦{_SIGNS[found['sign']]}{_below(found)}⟧"


def _behind(found: re.Match[str]) -> str:
    unit = found["unita"]
    if len(unit) == 1 and not found["gap"]:
        return found[0]  # `3t` is a product
    return f"⟦{unit}{_power(found, 'a')}{_below(found)}⟧"


def _below(found: re.Match[str]) -> str:
    return f"/{found['unitb']}{_power(found, 'b')}" if found["unitb"] else ""


def _power(found: re.Match[str], part: str) -> str:
    word = found[f"word{part}"] or ""
    count = found[f"power{part}"] or {"s": "2", "c": "3"}.get(word[:1], "")
    return f"^{count}" if count else ""


def without_marks(text: str) -> str:
    """The text without units."""
    return MARK.sub(" ", text)


def amount_of(text: str) -> UnitValue | None:
    """The amount that a side with marks is; None for one without, or of mixed dimensions."""
    if "⟦" not in text:
        return None
    try:
        value = read(_MARKED.sub(_in_base, text)).value
    except (Unreadable, KeyError):
        return None
    if len(value.top) != 1 or len(value.below) != 1:
        return None
    [(above, factor)], [(below, divisor)] = value.top.items(), value.below.items()
    powers = dict(above)
    for held, count in below:
        powers[held] = powers.get(held, 0) - count
    dimensions = frozenset((held, count) for held, count in powers.items() if count)
    if any(held not in _BASES for held, _ in dimensions):
        return None
    return UnitValue(
        factor / divisor, dimensions, not _IMPERIAL.isdisjoint(re.findall("[a-z]+", text))
    )


def _in_base(found: re.Match[str]) -> str:
    units: list[str] = []
    for part in found[2].split("/"):
        unit, _, count = part.partition("^")
        base, factor = UNITS[unit]
        units.append(f"({factor}*{base})^{count or 1}")
    expression = "/".join(units)
    return f")*({expression})" if found[1] == ")" else f"({found[1]}*({expression}))"
