"""Flaw: the first payment is counted as due at the purchase, so all months are one too small."""


def hire_rate(price: int, payments: list[int]) -> float:
    low, high = 0.0, 1.0
    for _ in range(100):
        rate = (low + high) / 2
        worth = sum(p / (1 + rate) ** month for month, p in enumerate(payments))
        if worth > price:
            low = rate
        else:
            high = rate
    return low
