"""Memoised recursion that strips the pattern and the text from the right end."""

from functools import lru_cache


def lock_readings(pattern: str, text: str) -> int:
    @lru_cache(maxsize=None)
    def count(symbols: int, end: int) -> int:
        if symbols == 0:
            return 1 if end == 0 else 0
        symbol = pattern[symbols - 1]
        if symbol == "~":
            total = 0
            for start in range(end + 1):
                piece = text[start:end]
                if piece == piece[::-1]:
                    total += count(symbols - 1, start)
            return total
        if end == 0:
            return 0
        last = text[end - 1]
        if symbol == "=":
            if end == 1 or text[end - 2] != last:
                return 0
        elif symbol != "." and symbol != last:
            return 0
        return count(symbols - 1, end - 1)

    return count(len(pattern), len(text))
