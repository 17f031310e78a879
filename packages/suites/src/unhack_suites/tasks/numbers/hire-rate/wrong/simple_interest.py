"""Flaw: spreads the extra cost evenly over the months (simple interest on the full price)."""


def hire_rate(price: int, payments: list[int]) -> float:
    return (sum(payments) - price) / price / len(payments)
