"""Flaw: gives the distance, never a negative number."""


def dial_turn(here: int, there: int, marks: int) -> int:
    diff = abs(there - here) % marks
    return min(diff, marks - diff)
