"""Memo table of completions; the range is split at each prefix of the limit."""

from functools import lru_cache


def count_calm(low: int, high: int, step: int, divisor: int) -> int:
    @lru_cache(maxsize=None)
    def completions(last: int, places: int, residue: int) -> int:
        if places == 0:
            return 1 if residue == 0 else 0
        return sum(
            completions(digit, places - 1, (residue + digit) % divisor)
            for digit in range(10)
            if abs(digit - last) <= step
        )

    def below(limit: int) -> int:
        """Calm numbers n with 1 <= n < limit."""
        text = str(limit)
        count = 0
        for size in range(1, len(text)):
            count += sum(completions(d, size - 1, d % divisor) for d in range(1, 10))
        previous = -1
        residue = 0
        for position, char in enumerate(text):
            for digit in range(int(char)):
                if position == 0 and digit == 0:
                    continue
                if previous < 0 or abs(digit - previous) <= step:
                    left = len(text) - position - 1
                    count += completions(digit, left, (residue + digit) % divisor)
            if previous >= 0 and abs(int(char) - previous) > step:
                break
            previous = int(char)
            residue = (residue + previous) % divisor
        return count

    zero = 1 if low == 0 else 0
    return zero + below(high + 1) - below(max(low, 1))
