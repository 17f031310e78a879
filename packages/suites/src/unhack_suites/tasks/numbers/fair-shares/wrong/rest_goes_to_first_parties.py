"""Flaw: the left-over cents go to the first parties, whatever they lost."""


def split_bill(total: int, weights: list[int]) -> list[int]:
    if total < 0 or not weights or any(w < 0 for w in weights) or sum(weights) == 0:
        raise ValueError("bad input")
    whole = sum(weights)
    shares = [total * w // whole for w in weights]
    for i in range(total - sum(shares)):
        shares[i] += 1
    return shares
