"""Flaw: ten halvings give about three digits only."""


def hire_rate(price: int, payments: list[int]) -> float:
    low, high = 0.0, 1.0
    for _ in range(10):
        rate = (low + high) / 2
        worth = sum(p / (1 + rate) ** (m + 1) for m, p in enumerate(payments))
        if worth >= price:
            low = rate
        else:
            high = rate
    return low
