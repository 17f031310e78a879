"""Bisection on the rate; the worth of the payments falls as the rate grows."""


def _worth(payments: list[int], rate: float) -> float:
    value = 0.0
    for payment in reversed(payments):
        value = (value + payment) / (1 + rate)
    return value


def hire_rate(price: int, payments: list[int]) -> float:
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if _worth(payments, middle) > price:
            low = middle
        else:
            high = middle
    return low
