"""Flaw: `=` repeats the previous pattern symbol instead of the previous text character."""

from functools import lru_cache


def lock_readings(pattern: str, text: str) -> int:
    expanded = ""
    for symbol in pattern:
        expanded += expanded[-1] if symbol == "=" and expanded else symbol

    @lru_cache(maxsize=None)
    def go(i: int, j: int) -> int:
        if i == len(expanded):
            return int(j == len(text))
        symbol = expanded[i]
        if symbol == "~":
            total = 0
            for end in range(j, len(text) + 1):
                if text[j:end] == text[j:end][::-1]:
                    total += go(i + 1, end)
            return total
        if j == len(text) or symbol not in (".", text[j]):
            return 0
        return go(i + 1, j + 1)

    return go(0, 0)
