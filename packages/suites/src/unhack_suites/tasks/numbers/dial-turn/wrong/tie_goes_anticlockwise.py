"""Flaw: when both ways are equally long it turns anticlockwise."""


def dial_turn(here: int, there: int, marks: int) -> int:
    clockwise = (there - here) % marks
    anticlockwise = marks - clockwise
    return clockwise if clockwise < anticlockwise else -anticlockwise
