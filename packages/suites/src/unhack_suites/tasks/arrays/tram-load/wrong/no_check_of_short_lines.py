"""Flaw: lines with fewer than two stops are not rejected."""


def busiest_leg(stops: int, trips: list[list[int]]) -> list[int]:
    load = [0] * max(stops, 1)
    for start, goal in trips:
        if not 0 <= start < goal <= stops - 1:
            raise ValueError("bad trip")
        for leg in range(start, goal):
            load[leg] += 1
    best = max(load)
    return [load.index(best), best]
