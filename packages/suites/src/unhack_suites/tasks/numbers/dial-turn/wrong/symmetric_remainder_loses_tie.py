"""Flaw: the remainder shifted by half a dial gives -marks/2 when both ways are equal."""


def dial_turn(here: int, there: int, marks: int) -> int:
    half = marks // 2
    return (there - here + half) % marks - half
