"""Numbers as people write them, read exactly.

    number("4 1/2") == number("9/2") == number("4.5") == number("four and a half")

Covered: signs, thousands, powers of ten, fractions, mixed numbers, repeating decimals, per cent,
LaTeX, number words up to the thousands.
Not covered: sums and other expressions: they are no number yet.
"""

from __future__ import annotations

import re
from fractions import Fraction

_SMALL = {
    name: value
    for value, name in enumerate(
        """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen
        fifteen sixteen seventeen eighteen nineteen""".split()  # noqa: SIM905
    )
}
_TENS = {
    name: 10 * value
    for value, name in enumerate(
        "twenty thirty forty fifty sixty seventy eighty ninety".split(),  # noqa: SIM905
        start=2,
    )
}
_PART = {
    "half": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7,
    "eighth": 8, "ninth": 9, "tenth": 10, "eleventh": 11, "twelfth": 12,
}  # fmt: skip
_PARTS = {**_PART, **{f"{name}s": value for name, value in _PART.items()}, "halves": 2}
_VULGAR = {"½": "1/2", "⅓": "1/3", "⅔": "2/3", "¼": "1/4", "¾": "3/4", "⅕": "1/5", "⅖": "2/5",
           "⅗": "3/5", "⅘": "4/5", "⅙": "1/6", "⅚": "5/6", "⅛": "1/8", "⅜": "3/8", "⅝": "5/8",
           "⅞": "7/8"}  # fmt: skip
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_UNSIGNED = r"\d+(?:\.\d+)?|\.\d+"


def plainer(text: str) -> str:
    """The text without LaTeX's layout, emphasis and typographic signs."""
    text = text.replace("−", "-").replace("–", "-").replace("\u00a0", " ").replace("\u202f", " ")
    text = re.sub(r"\\(?:text|mathrm|mathbf|operatorname|mathit)\{([^{}]*)\}", r"\1", text)
    text = re.sub(r"\\(?:boxed)\{(.*)\}", r"\1", text)
    text = re.sub(r"\\(?:left|right|displaystyle)(?![a-zA-Z])", "", text)
    text = re.sub(r"\\[,;:!> ]", " ", text).replace("{,}", ",").replace("\\%", "%")
    text = re.sub(r"\\(?:\(|\)|\[|\])", "", text)
    text = text.replace("$", "").replace("**", "").replace("`", "").replace("__", "")
    return re.sub(r"\s+", " ", text).strip()


def number(text: str) -> Fraction | None:
    """The value of a text that is one number and nothing else; None for any other."""
    text = plainer(text).lower().strip()
    for mark, spelled in _VULGAR.items():
        text = re.sub(rf"(?<=\d) ?{mark}", f" {spelled}", text).replace(mark, spelled)
    percent = re.fullmatch(r"(.+?) ?(?:%|percent|per cent)", text)
    if percent:
        inner = number(percent.group(1))
        return None if inner is None else inner / 100
    sign = re.match(r"(?:([+-])|(minus|negative|plus) )\s*", text)
    if sign:
        value = _unsigned(text[sign.end() :])
        negative = sign.group(1) == "-" or sign.group(2) in ("minus", "negative")
        return None if value is None else -value if negative else value
    return _unsigned(text)


def _unsigned(text: str) -> Fraction | None:
    text = re.sub(r"(\d)[, ](?=\d{3}(?:\D|$))", r"\1", text) if _grouped(text) else text
    latex = re.fullmatch(r"(\d+)? ?\\[dt]?frac ?\{(\d+)\} ?\{(\d+)\}", text)
    mixed = latex or re.fullmatch(r"(?:(\d+)(?: and | |-))?(\d+) ?[/⁄] ?(\d+)", text)
    if mixed:
        whole, top, bottom = (int(item or 0) for item in mixed.groups())
        return whole + Fraction(top, bottom) if bottom else None
    repeating = re.fullmatch(r"(\d+)\.(\d*)(?:\((\d+)\)|\\overline ?\{(\d+)\})", text)
    if repeating:
        whole, fixed, again, over = repeating.groups()
        cycle, scale = again or over, 10 ** len(fixed or "")
        tail = Fraction(int(cycle), (10 ** len(cycle) - 1) * scale)
        return int(whole) + Fraction(int(fixed or 0), scale) + tail
    raised = text.translate(_RAISED) if "10" in text else text
    power = re.fullmatch(
        rf"({_UNSIGNED}) ?(?:[x×*·]|\\times|\\cdot) ?10 ?(?:\^|\*\*)? ?\{{?(-?\d+)\}}?", raised
    ) or re.fullmatch(rf"({_UNSIGNED})e([+-]?\d+)", text)
    if power and abs(int(power.group(2))) < 40:
        return Fraction(power.group(1)) * Fraction(10) ** int(power.group(2))
    if re.fullmatch(_UNSIGNED, text):
        return Fraction(text)
    return in_words(text)


def _grouped(text: str) -> bool:
    return re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,3}(?: \d{3})+(?:\.\d+)?", text) is not (
        None
    )


def in_words(text: str) -> Fraction | None:
    """A number that is spelled out, without its sign."""
    words = re.sub(r"-", " ", text).split()
    words = ["one" if word in ("a", "an") else word for word in words]
    if not words:
        return None
    if "point" in words:
        at = words.index("point")
        whole = _count(words[:at])
        digits = [_SMALL.get(word, 10) for word in words[at + 1 :]]
        if whole is None or not digits or max(digits) > 9:
            return None
        return Fraction(f"{whole}.{''.join(map(str, digits))}")
    if words[-1] in _PARTS:
        return _part(words)
    found = _count(words)
    return None if found is None else Fraction(found)


def _part(words: list[str]) -> Fraction | None:
    bottom = _PARTS[words[-1]]
    if "and" in words:
        at = len(words) - 1 - words[::-1].index("and")
        whole, top = _count(words[:at]), _count(words[at + 1 : -1] or ["one"])
    else:
        whole, top = 0, _count(words[:-1] or ["one"])
    return None if whole is None or top is None else whole + Fraction(top, bottom)


def _count(words: list[str]) -> int | None:
    """A whole number of words."""
    total, current, seen = 0, 0, False
    for word in words:
        if word in _SMALL:
            current, seen = current + _SMALL[word], True
        elif word in _TENS:
            current, seen = current + _TENS[word], True
        elif word == "hundred" and seen:
            current *= 100
        elif word == "thousand" and seen:
            total, current = total + 1000 * current, 0
        elif word != "and" or not seen:
            return None
    return total + current if seen else None
