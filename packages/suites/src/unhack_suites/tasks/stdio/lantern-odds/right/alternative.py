"""Recursion on where the first long run ends, in exact fractions."""
from fractions import Fraction
from functools import lru_cache
from math import prod

n, k = map(int, input().split())
p = [Fraction(word) for word in input().split()]


@lru_cache(maxsize=None)
def seen(first: int) -> Fraction:
    """Probability of a run of k lit ones among the lanterns with index below `first`."""
    if first < k:
        return Fraction(0)
    run = prod(p[first - k : first], start=Fraction(1))
    if first == k:
        return run
    # the first long run ends exactly here: k lit, a dark one before, nothing seen before that
    before = first - k - 1
    return seen(first - 1) + (1 - seen(before)) * (1 - p[before]) * run


print(float(seen(n)))
