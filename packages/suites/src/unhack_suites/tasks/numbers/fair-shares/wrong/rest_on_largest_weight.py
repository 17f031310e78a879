"""Flaw: rounds every share to the nearest cent and puts the difference on the largest weight."""


def split_bill(total: int, weights: list[int]) -> list[int]:
    if total < 0 or not weights or any(w < 0 for w in weights) or sum(weights) == 0:
        raise ValueError("bad input")
    whole = sum(weights)
    shares = [(2 * total * w + whole) // (2 * whole) for w in weights]
    shares[weights.index(max(weights))] += total - sum(shares)
    return shares
