"""Flaw: computes with floats, which is not exact for large amounts and near ties."""

import math


def split_bill(total: int, weights: list[int]) -> list[int]:
    if total < 0 or not weights or any(w < 0 for w in weights) or sum(weights) == 0:
        raise ValueError("bad input")
    whole = sum(weights)
    exact = [total * (w / whole) for w in weights]
    shares = [math.floor(x) for x in exact]
    left = total - sum(shares)
    order = sorted(range(len(weights)), key=lambda i: (-(exact[i] - shares[i]), i))
    for i in order[:left]:
        shares[i] += 1
    return shares
