"""Walks both ways at once, one mark at a time, the clockwise one first."""


def dial_turn(here: int, there: int, marks: int) -> int:
    goal = there % marks
    right = left = here % marks
    steps = 0
    while True:
        if right == goal:
            return steps
        if left == goal:
            return -steps
        steps += 1
        right = right + 1 if right + 1 < marks else 0
        left = left - 1 if left > 0 else marks - 1
