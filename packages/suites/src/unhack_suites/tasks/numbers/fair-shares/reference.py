"""Integer division for the base shares, then the largest remainders in sorted order."""


def split_bill(total: int, weights: list[int]) -> list[int]:
    whole = sum(weights)
    if total < 0 or whole <= 0 or min(weights) < 0:
        raise ValueError("no fair split exists")
    shares = [total * weight // whole for weight in weights]
    left = total - sum(shares)
    order = sorted(range(len(weights)), key=lambda i: (-(total * weights[i] % whole), i))
    for i in order[:left]:
        shares[i] += 1
    return shares
