"""Flaw: the passenger is still counted on the leg that begins at the goal."""


def busiest_leg(stops: int, trips: list[list[int]]) -> list[int]:
    if stops < 2:
        raise ValueError("too few stops")
    load = [0] * stops
    for start, goal in trips:
        if not 0 <= start < goal <= stops - 1:
            raise ValueError("bad trip")
        for leg in range(start, goal + 1):
            load[leg] += 1
    best = max(load[:-1])
    return [load.index(best), best]
