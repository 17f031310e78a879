r"""Numbers as people write them, read exactly and without evaluating anything.

A numeral is the whole text, after one pair of math delimiters (`$…$`, `\(…\)`, `\[…\]`), one
trailing full stop, LaTeX spaces at its ends and braces around all of it (`{…}`, `\text{…}`) are
taken off:

    12   -12   +12   .5   5.   1,234,567.8   1{,}234   1.5e-3
    3/4   \frac{3}{4}   \frac34   3 1/2   3\frac{1}{2}      integers over integers, also with a sign
    12%   12\%                                              see `Percent`
    1.6\times10^{-3}   1.6 \cdot 10^5   10^6               a decimal before a power of ten

Digits are ASCII or full-width; a minus may be U+2212. Everything else is no numeral: `nan`, `inf`,
`1_000`, `0x10`, `10**10`, `1e9999`, superscripts, other scripts' digits, commas that do not part
groups of three, several numbers, a number with a word.

Covered: at most `MAX_DIGITS` digits and a decimal exponent within ±`MAX_EXPONENT`, so that each
value is an exact fraction of bounded size; linear time.
Not covered: decimal commas (`3,14` is no numeral, and `1,234` is a thousand and some).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

MAX_DIGITS = 1000
MAX_EXPONENT = 1000


class Percent(StrEnum):
    """The meaning of a percent sign after a number; the same for the answer and the gold answer."""

    FRACTION = "fraction"
    """`50%` is 1/2, and never 50."""
    POINTS = "points"
    """The sign is dropped: `50%` is 50, and never 1/2."""


@dataclass(frozen=True, slots=True)
class Numeral:
    """A number as it was written."""

    value: Fraction
    evaluated: bool
    """False for a fraction whose value is an integer: `6/3`, a division left undone."""
    percent: bool = False
    """True where a percent sign made it a hundredth."""


_FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
_TRANSLATE = {**_FULL_WIDTH, 0x2212: "-"}
_INTEGER = r"(?:\d{1,3}(?:(?:,|\{,\})\d{3})+|\d+)"
_DECIMAL = re.compile(
    rf"(?P<whole>{_INTEGER})?(?:\.(?P<part>\d*))?(?:[eE](?P<exponent>[+-]?\d{{1,5}}))?", re.ASCII
)
_FRACTION = re.compile(
    rf"(?:(?P<whole>{_INTEGER})\s{{0,4}})??"
    rf"(?:(?<![\d}}])(?P<a>{_INTEGER})\s?/\s?(?P<b>{_INTEGER})"
    rf"|\\[dtc]?frac\s?\{{\s?(?P<up>-?)(?P<c>{_INTEGER})\s?\}}\s?\{{\s?(?P<down>-?)(?P<d>{_INTEGER})\s?\}}"
    r"|\\[dtc]?frac\s?(?P<e>\d)\s?(?P<f>\d))",
    re.ASCII,
)


def bare_math(text: str) -> str:
    """`text` without one pair of math delimiters and without a trailing full stop."""
    text = text.strip()
    for left, right in (("$$", "$$"), ("$", "$"), ("\\(", "\\)"), ("\\[", "\\]")):
        if text.endswith("." + right):
            text = text[: -len(right) - 1] + right
        inner = text.removesuffix(".") if text.endswith(right + ".") else text
        if len(inner) > len(left + right) and inner.startswith(left) and inner.endswith(right):
            middle = inner[len(left) : -len(right)]
            return text if "$" in middle.replace("\\$", "") else middle.strip()
    return text[:-1].rstrip() if text.endswith(".") and not text.endswith("..") else text


_WRAPPED = re.compile(
    r"(?:\\(?:text|textbf|textrm|mathrm|mathbf|mathit|mbox)\s?)?\{([^{}]*(?:\{,\}[^{}]*)*)\}"
)
_SPACES = ("\\,", "\\;", "\\:", "\\!", "\\ ", "~", "\\quad")
_MAX_WRAPPED = 4


def unwrapped(text: str) -> str:
    r"""`text` without LaTeX spaces at its ends and braces around all of it, a few deep."""
    for _ in range(_MAX_WRAPPED):
        inner = text
        for space in _SPACES:
            inner = inner.strip().removesuffix(space).removeprefix(space).strip()
        match = _WRAPPED.fullmatch(inner)
        inner = match[1].strip() if match else inner
        if inner == text:
            break
        text = inner
    return text


def without_unit(text: str, units: Sequence[str]) -> str:
    r"""`text` without one of `units` before or after the rest, bare, escaped or in `\text{}`."""
    for unit in sorted(units, key=len, reverse=True):
        wrapped = [rf"\{name}{{{gap}{unit}}}" for name in ("text", "mathrm") for gap in ("", " ")]
        for form in (*wrapped, f"\\{unit}", unit):
            rest = text
            if text.startswith(form):
                rest = text[len(form) :]
            elif text.endswith(form):
                rest = _without_space(text[: -len(form)])
            if rest != text and rest.strip():
                return rest.strip()
    return text


def _without_space(text: str) -> str:
    """`text` without the LaTeX space that parts a number from its unit."""
    for space in ("\\,", "\\;", "\\ ", "~"):
        text = text.rstrip().removesuffix(space)
    return text.rstrip()


def read_number(
    text: str, *, percent: Percent = Percent.FRACTION, units: Sequence[str] = ()
) -> Numeral | None:
    """The number that `text` is, or None. Never raises."""
    text = bare_math(text)
    if len(text) > 2 * MAX_DIGITS + 100:
        return None
    text, sign = _take_sign(narrow(unwrapped(text)))
    text = without_unit(text, units)
    text = unwrapped(text)
    if not sign:
        text, sign = _take_sign(text)
    scale = 1
    if text.endswith("%"):
        text = text[:-1].removesuffix("\\").rstrip()
        scale = 100 if percent is Percent.FRACTION else 1
    found = _read_decimal(text) or _read_fraction(text) or _read_power_of_ten(text)
    if found is None:
        return None
    value = found.value / scale
    return Numeral(-value if sign == "-" else value, found.evaluated, scale == 100)


def narrow(text: str) -> str:
    """`text` with ASCII for full-width characters, and a hyphen for U+2212."""
    return text.translate(_TRANSLATE)


def _take_sign(text: str) -> tuple[str, str]:
    """The rest, and the sign or nothing."""
    return (text[1:].lstrip(), text[0]) if text[:1] in {"-", "+"} else (text, "")


def _read_decimal(text: str) -> Numeral | None:
    match = _DECIMAL.fullmatch(text)
    if match is None:
        return None
    whole, part = _digits(match["whole"]), match["part"] or ""
    if not whole + part or len(whole + part) > MAX_DIGITS:
        return None
    exponent = int(match["exponent"] or 0)
    if abs(exponent) > MAX_EXPONENT:
        return None
    value = Fraction(int(whole + part)) * Fraction(10) ** (exponent - len(part))
    return Numeral(value, True)


_POWER_OF_TEN = re.compile(
    r"(?:([\d.,{}]{1,1100}?)\s?(?:\\times|\\cdot|\*|x)\s?)?10\s?\^\s?(?:\{\s?([+-]?\d{1,4})\s?\}|([+-]?\d{1,4}))",
    re.ASCII,
)


def _read_power_of_ten(text: str) -> Numeral | None:
    match = _POWER_OF_TEN.fullmatch(text)
    front = _read_decimal(match[1]) if match and match[1] else Numeral(Fraction(1), True)
    exponent = int(match[2] or match[3]) if match else 0
    if match is None or front is None or abs(exponent) > MAX_EXPONENT:
        return None
    return Numeral(front.value * Fraction(10) ** exponent, True)


def _read_fraction(text: str) -> Numeral | None:
    match = _FRACTION.fullmatch(text)
    if match is None:
        return None
    above = _digits(match["a"] or match["c"] or match["e"])
    below = _digits(match["b"] or match["d"] or match["f"])
    whole = _digits(match["whole"])
    if max(len(above), len(below), len(whole)) > MAX_DIGITS or int(below) == 0:
        return None
    top, bottom = int(above), int(below)
    evaluated = top % bottom != 0
    if (match["up"] or "") != (match["down"] or ""):
        top = -top
    if whole:
        if top >= bottom or match["up"] or match["down"]:
            return None
        return Numeral(int(whole) + Fraction(top, bottom), evaluated)
    return Numeral(Fraction(top, bottom), evaluated)


def _digits(text: str | None) -> str:
    return (text or "").replace("{,}", "").replace(",", "")
