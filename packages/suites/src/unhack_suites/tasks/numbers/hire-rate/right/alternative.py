"""Newton's method from rate 0, which approaches from below because the worth is convex."""


def hire_rate(price: int, payments: list[int]) -> float:
    rate = 0.0
    for _ in range(200):
        gap = -float(price)
        slope = 0.0
        for month, payment in enumerate(payments, start=1):
            factor = (1 + rate) ** -month
            gap += payment * factor
            slope -= month * payment * factor / (1 + rate)
        step = gap / slope
        rate -= step
        if abs(step) < 1e-13:
            break
    return max(rate, 0.0)
