"""Flaw: leading zeros take part in the comparison of neighbouring digits."""

from functools import lru_cache


def _count(limit: int, step: int, divisor: int) -> int:
    if limit < 0:
        return 0
    text = str(limit)

    @lru_cache(maxsize=None)
    def go(pos: int, last: int, rest: int, tight: bool) -> int:
        if pos == len(text):
            return 1 if rest == 0 else 0
        top = int(text[pos]) if tight else 9
        total = 0
        for digit in range(top + 1):
            if pos == 0 or abs(digit - last) <= step:
                total += go(pos + 1, digit, (rest + digit) % divisor, tight and digit == top)
        return total

    return go(0, 0, 0, True)


def count_calm(low: int, high: int, step: int, divisor: int) -> int:
    return _count(high, step, divisor) - _count(low - 1, step, divisor)
