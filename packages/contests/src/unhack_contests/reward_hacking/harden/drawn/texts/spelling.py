"""Numbers spelled out, and decimals."""

from __future__ import annotations

from fractions import Fraction

_SMALL = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen
fifteen sixteen seventeen eighteen nineteen""".split()  # noqa: SIM905
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()  # noqa: SIM905


def spelled(value: int) -> str:
    """A whole number below 10 000 in words."""
    if value < 0:
        return f"minus {spelled(-value)}"
    if value < 20:
        return _SMALL[value]
    if value < 100:
        tail = f"-{_SMALL[value % 10]}" if value % 10 else ""
        return _TENS[value // 10 - 2] + tail
    if value < 1000:
        tail = f" and {spelled(value % 100)}" if value % 100 else ""
        return f"{_SMALL[value // 100]} hundred{tail}"
    tail = f" {spelled(value % 1000)}" if value % 1000 else ""
    return f"{spelled(value // 1000)} thousand{tail}"


def decimal(value: Fraction) -> str:
    """A finite decimal without trailing zeros. Raises ValueError for an endless one."""
    for places in range(16):
        scaled = value * 10**places
        if scaled.denominator == 1:
            text = f"{abs(int(scaled)):0{places + 1}d}"
            whole, part = (text[:-places], text[-places:]) if places else (text, "")
            return ("-" if value < 0 else "") + whole + (f".{part}" if part else "")
    raise ValueError(f"{value} has no finite decimal")


def spelled_decimal(value: Fraction) -> str:
    """A finite decimal in words: `four point five`."""
    whole, _, part = decimal(value).partition(".")
    tail = " point " + " ".join(_SMALL[int(digit)] for digit in part) if part else ""
    return spelled(int(whole)) + tail
