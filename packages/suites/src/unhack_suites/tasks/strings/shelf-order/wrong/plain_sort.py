"""Flaw: plain string order, numbers are not compared by value."""


def shelf_order(labels: list[str]) -> list[str]:
    return sorted(labels, key=lambda label: (label.lower(), label))
