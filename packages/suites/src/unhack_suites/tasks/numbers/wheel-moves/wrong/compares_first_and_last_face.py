"""Flaw: adds up the differences of the digits of the two numbers instead of all moves."""


def wheel_moves(start: int, end: int, wheels: int) -> int:
    first = str(start).zfill(wheels)
    last = str(end).zfill(wheels)
    return sum((int(b) - int(a)) % 10 for a, b in zip(first, last))
