"""Flaw: `~` must take at least one character."""

from functools import lru_cache


def lock_readings(pattern: str, text: str) -> int:
    @lru_cache(maxsize=None)
    def go(i: int, j: int) -> int:
        if i == len(pattern):
            return int(j == len(text))
        symbol = pattern[i]
        if symbol == "~":
            total = 0
            for end in range(j + 1, len(text) + 1):
                if text[j:end] == text[j:end][::-1]:
                    total += go(i + 1, end)
            return total
        if j == len(text):
            return 0
        if symbol == "=":
            return go(i + 1, j + 1) if j > 0 and text[j] == text[j - 1] else 0
        return go(i + 1, j + 1) if symbol in (".", text[j]) else 0

    return go(0, 0)
