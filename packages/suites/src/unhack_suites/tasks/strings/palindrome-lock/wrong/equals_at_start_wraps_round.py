"""Flaw: at the start of the text `text[j - 1]` is the last character, so `=` may read there."""

from functools import lru_cache


def lock_readings(pattern: str, text: str) -> int:
    @lru_cache(maxsize=None)
    def go(i: int, j: int) -> int:
        if i == len(pattern):
            return int(j == len(text))
        symbol = pattern[i]
        if symbol == "~":
            return sum(
                go(i + 1, end)
                for end in range(j, len(text) + 1)
                if text[j:end] == text[j:end][::-1]
            )
        if j >= len(text):
            return 0
        if symbol == "=" and text[j] != text[j - 1]:
            return 0
        if symbol not in ("=", ".", text[j]):
            return 0
        return go(i + 1, j + 1)

    return go(0, 0)
