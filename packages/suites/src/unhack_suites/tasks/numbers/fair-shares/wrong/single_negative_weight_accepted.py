"""Flaw: only the sum of the weights is checked, a negative weight among others passes."""


def split_bill(total: int, weights: list[int]) -> list[int]:
    whole = sum(weights)
    if total < 0 or whole <= 0:
        raise ValueError("bad input")
    shares = [total * w // whole for w in weights]
    order = sorted(range(len(weights)), key=lambda i: -(total * weights[i] % whole))
    for i in order[: total - sum(shares)]:
        shares[i] += 1
    return shares
