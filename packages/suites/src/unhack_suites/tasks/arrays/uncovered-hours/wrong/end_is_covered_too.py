"""Flaw: marks minutes and takes the end of a shift as covered."""


def uncovered(opening: int, closing: int, shifts: list[list[int]]) -> list[list[int]]:
    busy = [False] * 1442
    for start, end in shifts:
        for minute in range(start, end + 1):
            busy[minute] = True
    gaps: list[list[int]] = []
    for minute in range(opening, closing):
        if busy[minute]:
            continue
        if gaps and gaps[-1][1] == minute:
            gaps[-1][1] = minute + 1
        else:
            gaps.append([minute, minute + 1])
    return gaps
