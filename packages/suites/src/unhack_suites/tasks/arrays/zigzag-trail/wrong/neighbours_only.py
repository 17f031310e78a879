"""Flaw: finds the longest zigzag of neighbouring places, none may be left out."""


def longest_zigzag(altitudes: list[int], gap: int) -> int:
    if not altitudes:
        return 0
    best = length = 1
    last = 0
    for a, b in zip(altitudes, altitudes[1:]):
        step = 1 if b - a >= gap else -1 if a - b >= gap else 0
        if step == 0:
            length, last = 1, 0
        elif step == -last:
            length += 1
            last = step
        else:
            length, last = 2, step
        best = max(best, length)
    return best
