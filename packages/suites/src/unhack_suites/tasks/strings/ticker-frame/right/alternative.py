"""Rotate a deque to the tick and then read from it as if it were a tape."""

from collections import deque
from itertools import cycle, islice


def ticker_frame(text: str, width: int, gap: int, tick: int) -> str:
    tape = deque(text)
    tape.extend(" " * gap)
    if len(tape) == 0:
        tape.append(" ")
    tape.rotate(-tick)
    return "".join(islice(cycle(tape), width))
