"""Flaw: tests whether the number itself is divisible, not its digit sum."""

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
            now = -1 if last < 0 and digit == 0 else digit
            if last < 0 or abs(digit - last) <= step:
                total += go(pos + 1, now, (rest * 10 + digit) % divisor, tight and digit == top)
        return total

    return go(0, -1, 0, True)


def count_calm(low: int, high: int, step: int, divisor: int) -> int:
    return _count(high, step, divisor) - _count(low - 1, step, divisor)
