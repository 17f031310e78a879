"""Flaw: for `end < start` it counts the way between them instead of running through zero."""


def wheel_moves(start: int, end: int, wheels: int) -> int:
    low, high = min(start, end), max(start, end)
    return sum(high // 10**k - low // 10**k for k in range(wheels))
