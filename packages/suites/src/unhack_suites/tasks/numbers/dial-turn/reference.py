"""Remainder for the clockwise way, then the other way if that is strictly shorter."""


def dial_turn(here: int, there: int, marks: int) -> int:
    clockwise = (there - here) % marks
    if 2 * clockwise > marks:
        return clockwise - marks
    return clockwise
