"""Flaw: a trip that starts and ends at the same stop is not rejected."""


def busiest_leg(stops: int, trips: list[list[int]]) -> list[int]:
    if stops < 2:
        raise ValueError("too few stops")
    load = [0] * (stops - 1)
    for start, goal in trips:
        if start < 0 or goal > stops - 1 or start > goal:
            raise ValueError("bad trip")
        for leg in range(start, goal):
            load[leg] += 1
    best = max(load)
    return [load.index(best), best]
