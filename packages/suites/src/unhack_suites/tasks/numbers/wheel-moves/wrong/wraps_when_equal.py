"""Flaw: equal numbers are taken for a full round of the counter."""


def wheel_moves(start: int, end: int, wheels: int) -> int:
    if end <= start:
        end += 10**wheels
    total = 0
    unit = 1
    for _ in range(wheels):
        total += end // unit - start // unit
        unit *= 10
    return total
