"""Flaw: bells with equal periods are merged into one bell, which then can ring alone."""

from itertools import combinations
from math import lcm


def solo_ring(periods: list[int], k: int) -> int:
    bells = sorted(set(periods))
    terms = []
    for size in range(1, len(bells) + 1):
        for group in combinations(bells, size):
            terms.append((lcm(*group), (-1) ** (size + 1) * size))

    def count(minute: int) -> int:
        return sum(sign * (minute // common) for common, sign in terms)

    low, high = 1, 10**18
    if count(high) < k:
        return -1
    while low < high:
        middle = (low + high) // 2
        if count(middle) >= k:
            high = middle
        else:
            low = middle + 1
    return low
