"""Flaw: counts the minutes at which at least one bell rings."""

from itertools import combinations
from math import lcm


def solo_ring(periods: list[int], k: int) -> int:
    if len(set(periods)) == 1 and len(periods) > 1:
        return -1

    def count(minute: int) -> int:
        total = 0
        for size in range(1, len(periods) + 1):
            for group in combinations(periods, size):
                total += (-1) ** (size + 1) * (minute // lcm(*group))
        return total

    low, high = 1, k * max(periods)
    while low < high:
        middle = (low + high) // 2
        if count(middle) >= k:
            high = middle
        else:
            low = middle + 1
    return low
