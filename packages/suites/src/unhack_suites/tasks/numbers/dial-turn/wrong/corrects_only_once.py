"""Flaw: adds or subtracts one full round only, so far-off numbers stay wrong."""


def dial_turn(here: int, there: int, marks: int) -> int:
    diff = there - here
    if diff * 2 > marks:
        diff -= marks
    elif diff * 2 <= -marks:
        diff += marks
    return diff
