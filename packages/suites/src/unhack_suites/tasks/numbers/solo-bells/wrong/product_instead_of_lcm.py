"""Flaw: bells ring together at multiples of the product of their periods."""

from itertools import combinations
from math import prod


def solo_ring(periods: list[int], k: int) -> int:
    terms = []
    for size in range(1, len(periods) + 1):
        for group in combinations(periods, size):
            terms.append((prod(group), (-1) ** (size + 1) * size))

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
