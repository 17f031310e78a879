"""Mathematical notation as people write it, in one plain form.

Covered: signs of Unicode, LaTeX, superscripts, roots, percent, thousands in three spellings,
decimal commas, mixed numbers, units behind numbers, words for operations.
Not covered: pictures, matrices, integrals, subscripts; such text stays as it is and is not read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

MAX_LINE = 2000
"""Longer lines are not read."""
_SIGNS = str.maketrans({
    "−": "-", "–": "-", "×": "*", "·": "*", "⋅": "*", "∙": "*", "•": "*", "∗": "*", "÷": "/",
    "∕": "/", "⁄": "/", "≅": "≈", "≃": "≈", "∼": "≈", "{": "(", "}": ")", "[": "(", "]": ")",
    "\u00a0": " ", "\u202f": " ", "\u2009": " ", "“": " ", "”": " ", "…": "...", "＝": "=",
})  # fmt: skip
_SUPER = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_SUPERS = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺]+")
_FRACTIONS = {"½": "1/2", "⅓": "1/3", "⅔": "2/3", "¼": "1/4", "¾": "3/4", "⅕": "1/5", "⅛": "1/8"}
_LATEX = (
    (re.compile(r"\\(?:left|right|displaystyle|quad|qquad|[,;:! ])"), " "),
    (re.compile(r"\\(?:text|mathrm|mathbf|textbf|operatorname)\s*{([^{}]*)}"), r" \1 "),
    (re.compile(r"\\(?:cdot|times|ast)\b"), "*"),
    (re.compile(r"\\div\b"), "/"),
    (re.compile(r"\\(?:approx|simeq|sim)\b"), "≈"),
    (re.compile(r"\\pm\b"), "±"),
    (re.compile(r"\\pi\b"), "π"),
    (re.compile(r"\\(?:Rightarrow|implies|to|therefore|Longrightarrow)\b"), " => "),
    (re.compile(r"\\%"), "%"),
    (re.compile(r"\\boxed\b"), " answer "),
    (re.compile(r"\\sqrt\s*(?=\[)"), "^^"),  # a root of another degree: no expression that is read
    (re.compile(r"\\sqrt\b"), "√"),
    (re.compile(r"\\binom\s*{([^{}]*)}\s*{([^{}]*)}"), r"C(\1; \2)"),
    (re.compile(r"\\[\[\]()]|\${1,2}(?!\d)|\*\*|__|`|\\\\|&|(?<=[\d)])\$"), " "),
)
_POWER = re.compile(r"(?<=[\d)])\*\*(?=[\d(])|(?<=[\d)]) \*\* (?=[\d(])|(?<=\b[a-z])\*\*(?=[\d(])")
"""As in Python; other stars in pairs are bold print."""
_FRAC = re.compile(r"\\[dt]?frac\s*{([^{}]*)}\s*{([^{}]*)}")
_MARK = re.compile(
    r"^\s*(?:[-*•>]\s+|\(?\d{1,2}[.)]\s+|(?:=>|⇒|→|⟹|∴)\s*|step\s+\d+\s*[:.]\s*)+", re.IGNORECASE
)
_THOUSANDS = re.compile(r"(?<![\d.,])\d{1,3}(?:(?:,\d{3})+|(?: \d{3})+|(?:'\d{3})+)(?![\d])")
_COMMA = re.compile(r"(?<=\d),(?=\d)")
_MIXED = re.compile(r"(?<![\d.^/*+(-])(?<![\d.^/*+-] )\b(\d+) (\d{1,3})/(\d{1,3})\b(?!/)")
_CHOOSE = re.compile(r"\b(?:C|nCr|binom)\(\s*(\d+)\s*[,;]\s*(\d+)\s*\)")
_WORDY_CALL = re.compile(r"\b[A-Z]\((?=[^()=]*[a-z]{2})[^()=]*\)")
"""As `P(no head)`: words with brackets."""
_DECIMAL = re.compile(r"(?<![\d(,])\d+,(?:\d{1,2}|\d{4,})(?![\d)])")
_CURRENCY = re.compile(r"[€£¥]|\$(?=\s*\d)|°")
UNITS: dict[str, tuple[str, str]] = {
    # unit: (dimension, factor as text)
    "mm": ("length", "1/1000"), "cm": ("length", "1/100"), "dm": ("length", "1/10"),
    "m": ("length", "1"), "km": ("length", "1000"), "metres": ("length", "1"),
    "meters": ("length", "1"), "kilometres": ("length", "1000"), "kilometers": ("length", "1000"),
    "mg": ("mass", "1/1000"), "g": ("mass", "1"), "kg": ("mass", "1000"), "t": ("mass", "1000000"),
    "grams": ("mass", "1"), "gram": ("mass", "1"), "kilograms": ("mass", "1000"),
    "s": ("time", "1"), "sec": ("time", "1"), "second": ("time", "1"), "seconds": ("time", "1"),
    "min": ("time", "60"), "minute": ("time", "60"), "minutes": ("time", "60"),
    "h": ("time", "3600"), "hr": ("time", "3600"), "hour": ("time", "3600"),
    "hours": ("time", "3600"), "day": ("time", "86400"), "days": ("time", "86400"),
    "week": ("time", "604800"), "weeks": ("time", "604800"),
    "ml": ("volume", "1/1000"), "l": ("volume", "1"), "litre": ("volume", "1"),
    "litres": ("volume", "1"), "liter": ("volume", "1"), "liters": ("volume", "1"),
    "cent": ("money", "1/100"), "cents": ("money", "1/100"), "euro": ("money", "1"),
    "euros": ("money", "1"), "dollar": ("money", "1"), "dollars": ("money", "1"),
}  # fmt: skip
_SHORT = {"mm", "cm", "dm", "m", "km", "mg", "g", "kg", "t", "s", "h", "l", "ml", "min", "hr"}
_UNIT = re.compile(
    r"(?<=[\d)])\s*\b(?P<unit>mm|cm|dm|km|kg|mg|ml|min|hr|m|g|t|s|h|l)\b"
    r"(?:\^?\(?[23]\)?)?(?:\s*/\s*(?:mm|cm|dm|km|kg|ml|min|hr|m|g|s|h|l)\b(?:\^?\(?[23]\)?)?)?"
    r"(?!\s*\()"
)
_OPERATIONS = (
    (re.compile(r"(?<=[\d)])\s+x\s+(?=[\d(])"), " * "),
    (re.compile(r"(?<=[\d)%])\s+(?:times|multiplied by)\s+(?=[\d(])", re.I), " * "),
    (re.compile(r"(?<=[\d)%])\s+plus\s+(?=[\d(])", re.I), " + "),
    (re.compile(r"(?<=[\d)%])\s+minus\s+(?=[\d(])", re.I), " - "),
    (re.compile(r"(?<=[\d)])\s+divided by\s+(?=[\d(])", re.I), " / "),
    (re.compile(r"(?<=[%])\s+of\s+(?=[\d($])", re.I), " * "),
    (re.compile(r"(?<=/\d)\s+of\s+(?=[\d($])", re.I), " * "),
    (re.compile(r"(?<=[\d)])\s*:\s*(?=[\d(])"), " / "),
)
_SPACES = re.compile(r"\s+")
_TIME = re.compile(r"\b\d{1,2}:\d{2}\b(?!\s*=)")
_IS_WORDS = (
    r"(?<=[\d)%])\s*,?\s*(?:which|that|this)?\s*\b"
    r"(?:is|are|equals|makes|gives|is equal to|comes to)\s+"
)
_ABOUT = re.compile(_IS_WORDS + r"(?:about|roughly|approximately)\s+(?=[$(\d-])", re.IGNORECASE)
_IS = re.compile(_IS_WORDS + r"(?=[$(\d-])", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class PlainLine:
    """A line in the plain form."""

    text: str
    decimal_comma: bool
    """True where commas between digits were read as decimal ones."""


def plain(line: str, *, decimal_comma: bool = False) -> PlainLine:
    """The line in plain notation; empty for one that is too long to be read."""
    if len(line) > MAX_LINE:
        return PlainLine("", decimal_comma)
    # single spaces: runs of them would be tried in every division by patterns with several
    line = _POWER.sub("^", line).replace("**", " ")
    text = _MARK.sub("", _SPACES.sub(" ", line).strip())
    for _ in range(8):
        shorter = _FRAC.sub(r"((\1)/(\2))", text)
        if shorter == text:
            break
        text = shorter
    for pattern, put in _LATEX:
        text = pattern.sub(put, text)
    for sign, put in _FRACTIONS.items():
        text = re.sub(rf"(?<=\d){sign}", f" {put}", text).replace(sign, put)
    text = _SUPERS.sub(lambda found: f"^({found[0].translate(_SUPER)})", text).translate(_SIGNS)
    text = text.split(" | ")[0].replace("**", "^")
    text = _WORDY_CALL.sub(" the chance ", text)
    text = _CHOOSE.sub(r"choose(\1; \2)", text)
    text = _TIME.sub(lambda found: found[0].replace(":", " "), text)
    text = _numbers(text, decimal_comma=decimal_comma)
    text = _MIXED.sub(_mixed, text)
    text = _CURRENCY.sub(" ", text)
    text = _SPACES.sub(" ", text)
    for pattern, put in _OPERATIONS:
        text = pattern.sub(put, text)
    return PlainLine(_IS.sub(" ≗ ", _ABOUT.sub(" ≙ ", text)), decimal_comma)


def may_have_decimal_commas(text: str) -> bool:
    """True where a comma stands in a number as it does in no thousands."""
    return bool(_DECIMAL.search(text))


def _numbers(text: str, *, decimal_comma: bool) -> str:
    if decimal_comma:
        text = re.sub(r"(?<=\d) (?=\d{3}\b)", "", text)
        return _COMMA.sub(".", text)
    text = _THOUSANDS.sub(lambda found: re.sub(r"[ ,']", "", found[0]), text)
    return text


def _mixed(found: re.Match[str]) -> str:
    whole, top, below = found.groups()
    return f"({whole}+{top}/{below})" if 0 < int(top) < int(below) else found[0]


def unit_of(side: str) -> str:
    """The unit of a side that is one number with a unit; empty for any other."""
    found = re.fullmatch(r"\s*-?[\d.]+\s*([a-z]+)\s*", side)
    return found[1] if found and found[1] in UNITS else ""


def without_units(text: str) -> str:
    """The text without short units behind numbers; longer ones are words like any other."""
    return _UNIT.sub(" ", text)
