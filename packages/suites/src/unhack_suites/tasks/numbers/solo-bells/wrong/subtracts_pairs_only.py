"""Flaw: takes twice every pair off the sum of all rings and ignores three bells at once."""

from itertools import combinations
from math import lcm


def solo_ring(periods: list[int], k: int) -> int:
    pairs = [lcm(a, b) for a, b in combinations(periods, 2)]

    def count(minute: int) -> int:
        rings = sum(minute // period for period in periods)
        return rings - 2 * sum(minute // common for common in pairs)

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
