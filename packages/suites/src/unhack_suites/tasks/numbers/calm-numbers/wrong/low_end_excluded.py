"""Flaw: subtracts the count up to `low` itself, so `low` is never counted."""

from functools import lru_cache


def _count(limit: int, step: int, divisor: int) -> int:
    text = str(limit)

    @lru_cache(maxsize=None)
    def go(pos: int, last: int, rest: int, tight: bool) -> int:
        if pos == len(text):
            return int(rest == 0)
        top = int(text[pos]) if tight else 9
        total = 0
        for digit in range(top + 1):
            now = -1 if last < 0 and digit == 0 else digit
            if last < 0 or abs(digit - last) <= step:
                total += go(pos + 1, now, (rest + digit) % divisor, tight and digit == top)
        return total

    return go(0, -1, 0, True)


def count_calm(low: int, high: int, step: int, divisor: int) -> int:
    return _count(high, step, divisor) - _count(low, step, divisor)
