r"""Parts of an answer that are no mathematics: words, units, dates, numbers in words.

    5 apples, 3:45 pm           5 \text{apples}, 3:45\text{pm}
    forty-two, three eighths    42, \frac{3}{8}
    July 4th, 4 July            July 4

Not covered: ordinals, and fractions beyond tenths.
"""

from __future__ import annotations

import re

from unhack.verifiers.answers.units import with_marked_unit

_IDEOGRAPHS = re.compile(r"(?<![{\u4e00-\u9fff])[\u4e00-\u9fff]{1,40}")
_WORDS = re.compile(
    r"(?<![A-Za-z\\{}_^\d])(?:[A-Za-z]{4,}|(?i:and|any|all|are|in(?= (?:all|total))|cup|cups|day"
    r"|dm|dne|for|per|ft|if|inch|is|kg|km|cm|men|min|mm|mph|no|none|not|odd|one|or|sec|six|ten|the"
    r"|two|yes|yen|am|pm|bag|box|oz|sq|lb|lbs|hrs|hr)|(?<=[\d}] )m/s)"
    r"(?![A-Za-z(_^])"
)
_UNIT_SET_OFF = re.compile(
    r"(?<=[\d}])(?:(?:\\[,;: ]|[~\s]){1,4}\\(?:text|mathrm) ?\{~?|\\mathrm\{~)"
    r"(?=[mgsLNJKVWTHFhMC]\}|(?:min|sec)\}(?!\s?[(_{\\^a-z]))"
)
_HALF_DAY = re.compile(
    r"(?:(?<=:\d\d)\s{0,4}([apAP])\.?|(?<=\d)\s{1,4}([apAP])\.)\s?[mM]\.?(?![A-Za-z])"
)
_MONTH = (
    "(January|February|March|April|May|June|July|August|September|October|November|December)"
    "(?![a-z])"
)
_ORDINAL = r"(\d{1,2})(?:st|nd|rd|th)?"
_DATE = re.compile(rf"(?<![\d.]){_ORDINAL} (?:of )?{_MONTH}|{_MONTH} {_ORDINAL}(?![\d.])")


def in_text(text: str) -> str:
    """`text` with `\\text{}` around its words and units."""
    text = _DATE.sub(lambda at: f"{at[2] or at[3]} {at[1] or at[4]}", text)
    text = _UNIT_SET_OFF.sub(r"\\text{ ", text)
    text = with_marked_unit(text)
    text = _HALF_DAY.sub(lambda half: f"\\text{{{(half[1] or half[2]).lower()}m}}", text)
    text = _IDEOGRAPHS.sub(r"\\text{\g<0>}", text)
    return _WORDS.sub(lambda word: f"\\text{{{word[0]}}}", text)


_SMALL = [
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen"),
    "nineteen",
]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
DIGITS = {word: value for value, word in enumerate(_SMALL[:13])}
"""The words of numbers up to twelve."""
_VALUES = {word: value for value, word in enumerate(_SMALL)} | {
    word: 10 * tens for tens, word in enumerate(_TENS, start=2)
}
_SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9}
_ORDINALS = ("half", "third", "quarter", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_PARTS = {name: value for value, name in enumerate(_ORDINALS, start=2)} | {"halve": 2, "fourth": 4}
_MORE = re.compile(
    rf"\b(?:{'|'.join(_VALUES)}|and|or|to|by|in|out|point|over|squared|cubed|factorial|minus|plus"
    r"|times|half|halves|thirds?|quarters?|dozen|score|hundreds?|thousands?|[mb]illions?"
    r"|(?!month)[a-z]*(?:ths?|ty|teen))\b"
)
"""Words behind a number that make another number of it, `one half`, `two or three`."""
_COUNTED = re.compile(r"[A-Za-z]{3,9}(?:[ -][A-Za-z]{1,20}){0,12}")


def counted(text: str) -> str | None:
    """`42\\text{apples}` of `forty-two apples`; None for what begins with no number or goes on
    with another."""
    words = text.lower().replace("-", " ").split() if _COUNTED.fullmatch(text) else []
    total, part, scale, at = 0, 0, 10**12, 0
    for at, word in enumerate([*words, ""]):
        value = _VALUES.get(word, -1)
        room = 100 if value >= 10 else 10  # `forty two`, but no `two forty`, no `ten two`
        if value >= 0 and part % room == 0 and part % 100 != 10 and (value or not at):
            part += value
        elif word == "hundred" and 0 < part < 100:
            part *= 100
        elif _SCALES.get(word, scale) < scale and part:
            total, part, scale = total + part * _SCALES[word], 0, _SCALES[word]
        elif word != "and" or not at or words[at - 1] not in {"hundred", *_SCALES}:
            break
    rest = " ".join(words[at:])
    below = _PARTS.get(rest.removesuffix("s"))
    if not at:
        return None
    if below and 0 < total + part < 20:
        return f"\\frac{{{total + part}}}{{{below}}}"
    if _MORE.search(rest) or words[at - 1] == "and":
        return None
    return f"{total + part}" + (f"\\text{{{rest}}}" if rest else "")
