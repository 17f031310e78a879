"""Interval recursion: the first mark is completed alone or closed by some later mark."""

from functools import lru_cache

PARTNER = {"(": ")", "[": "]", "{": "}"}
OPENER = {closer: opener for opener, closer in PARTNER.items()}


def seal_crates(marks: str) -> str:
    @lru_cache(maxsize=None)
    def best(start: int, end: int) -> str:
        if start == end:
            return ""
        first = marks[start]
        if first in OPENER:
            return OPENER[first] + first + best(start + 1, end)
        answer = first + PARTNER[first] + best(start + 1, end)
        for k in range(start + 1, end):
            if marks[k] == PARTNER[first]:
                option = first + best(start + 1, k) + marks[k] + best(k + 1, end)
                if len(option) < len(answer):
                    answer = option
        return answer

    return best(0, len(marks))
