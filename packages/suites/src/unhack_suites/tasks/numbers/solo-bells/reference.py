"""Inclusion-exclusion for `exactly one`, then binary search for the minute."""

from itertools import combinations
from math import lcm


def solo_ring(periods: list[int], k: int) -> int:
    if all(
        any(i != j and period % other == 0 for j, other in enumerate(periods))
        for i, period in enumerate(periods)
    ):
        return -1
    terms: dict[int, int] = {}
    for size in range(1, len(periods) + 1):
        for group in combinations(periods, size):
            common = lcm(*group)
            terms[common] = terms.get(common, 0) + (size if size % 2 else -size)

    def solos(minute: int) -> int:
        return sum(sign * (minute // common) for common, sign in terms.items())

    high = 1
    while solos(high) < k:
        high *= 2
    low = high // 2
    while low < high:
        middle = (low + high) // 2
        if solos(middle) < k:
            low = middle + 1
        else:
            high = middle
    return low
