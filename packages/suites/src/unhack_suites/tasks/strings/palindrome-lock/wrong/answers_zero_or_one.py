"""Flaw: says whether there is a reading instead of how many there are."""

from functools import lru_cache


def lock_readings(pattern: str, text: str) -> int:
    @lru_cache(maxsize=None)
    def go(i: int, j: int) -> bool:
        if i == len(pattern):
            return j == len(text)
        symbol = pattern[i]
        if symbol == "~":
            ends = range(j, len(text) + 1)
            return any(text[j:e] == text[j:e][::-1] and go(i + 1, e) for e in ends)
        if j == len(text):
            return False
        if symbol == "=":
            return j > 0 and text[j] == text[j - 1] and go(i + 1, j + 1)
        return symbol in (".", text[j]) and go(i + 1, j + 1)

    return 1 if go(0, 0) else 0
