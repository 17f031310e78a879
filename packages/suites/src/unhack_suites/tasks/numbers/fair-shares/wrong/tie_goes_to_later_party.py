"""Flaw: sorting (remainder, index) pairs in reverse serves the later party first on a tie."""


def split_bill(total: int, weights: list[int]) -> list[int]:
    if total < 0 or not weights or any(w < 0 for w in weights) or sum(weights) == 0:
        raise ValueError("bad input")
    whole = sum(weights)
    shares = [total * w // whole for w in weights]
    order = sorted(((total * w % whole, i) for i, w in enumerate(weights)), reverse=True)
    for _, i in order[: total - sum(shares)]:
        shares[i] += 1
    return shares
