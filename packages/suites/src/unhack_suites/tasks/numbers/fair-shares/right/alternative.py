"""Exact fractions; the left-over cents go one at a time to the party that is owed most."""

from fractions import Fraction
from math import floor


def split_bill(total: int, weights: list[int]) -> list[int]:
    if total < 0 or not any(weights) or any(weight < 0 for weight in weights):
        raise ValueError("bad bill")
    cents_per_weight = Fraction(total, sum(weights))
    exact = [weight * cents_per_weight for weight in weights]
    shares = [floor(value) for value in exact]
    while sum(shares) < total:
        owed = [value - share for value, share in zip(exact, shares)]
        shares[owed.index(max(owed))] += 1
    return shares
