r"""Numbers within a mathematical text, without what writes them for the eye.

1,234  1{,}234  1\,234  1.234.567      1234, 1234567
3{,}5                                  3.5
0.\overline{45}  0.4545\ldots  0.(45)          \frac{5}{11}
"""

from __future__ import annotations

import re
from fractions import Fraction

_GROUPED = re.compile(
    r"(?<![\d.,])\d{1,3}(?:(?:,\\! ?|\{,\}|\\[, ]|\\!,|,)\d{3})+(?!\d|\{,\}|,\d)"
    r"|\A\d{1,3}(?:[ ~]\d{3}){1,300}\Z|\A\d{1,3}(?:\.\d{3}){2,300}\Z",
    re.ASCII,
)
_BARE_POINT = re.compile(r"(?<=\d)\.(?=/)", re.ASCII)
_DECIMAL_COMMA = re.compile(
    r"(?<![\d}])(\d{1,40})\{,\}(?=\d{1,2}(?![\d{])|\d{4}|(?<=\D0\{,\})\d|(?<=\A0\{,\})\d)", re.ASCII
)
_REPEATING = re.compile(
    r"(\d{0,40})\.(\d{0,40})\s?\\(?:overline|bar|dot)\s?(?:\{\s?(\d{1,40})\s?\}|(\d))", re.ASCII
)
_IN_BRACKETS = re.compile(r"\A(\d{1,40}\.\d{0,40})\((\d{1,40})\)\Z", re.ASCII)
_DOTTED = re.compile(r"(?<=[.\d])\\dot ?\{?(\d)\}?(\d{0,10})\\dot ?\{?(\d)\}?", re.ASCII)
_GOES_ON = re.compile(
    r"(?<![\d.])(\d{1,15}\.\d{0,6}?)(?:(\d)\2{2,20}|(\d{2,6})\3{1,10})\s?(?:\\[lc]?dots(?![A-Za-z])|\.\.\.)",
    re.ASCII,
)


def with_plain_numbers(text: str, *, whole: bool) -> str:
    """`text` with its numbers in plain digits. `whole` is false for a part of an answer, where a
    comma may part members."""
    text = _IN_BRACKETS.sub(r"\1\\overline{\2}", text)
    text = _DOTTED.sub(r"\\overline{\1\2\3}", text)
    text = _GOES_ON.sub(lambda go: f"{go[1]}\\overline{{{go[2] or go[3]}}}", text)
    text = _REPEATING.sub(_fraction_of, text)
    text = _BARE_POINT.sub("", text)
    text = _DECIMAL_COMMA.sub(r"\1.", text)
    return _GROUPED.sub(_digits_of, text) if whole else text


def _digits_of(match: re.Match[str]) -> str:
    """A number without what parts its thousands; plain commas within brackets part members."""
    before = match.string[: match.start()]
    inside = any(before.count(left) > before.count(right) for left, right in ("()", "[]"))
    if "," in match[0].replace(",\\!", "").replace("{,}", "") and (inside or "\\{" in before):
        return match[0]
    return re.sub(r"[^\d]", "", match[0])


def _fraction_of(match: re.Match[str]) -> str:
    whole, part, again = match[1] or "0", match[2], match[3] or match[4]
    nines = (10 ** len(again) - 1) * 10 ** len(part)
    value = Fraction(int(whole + part), 10 ** len(part)) + Fraction(int(again), nines)
    if value.denominator == 1:
        return str(value)
    return f"\\frac{{{value.numerator}}}{{{value.denominator}}}"
