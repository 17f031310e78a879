"""Difference array over the stops and a running sum."""


def busiest_leg(stops: int, trips: list[list[int]]) -> list[int]:
    if stops < 2:
        raise ValueError("a line has at least two stops")
    change = [0] * stops
    for start, goal in trips:
        if not 0 <= start < goal < stops:
            raise ValueError("impossible trip")
        change[start] += 1
        change[goal] -= 1
    best_leg, best_load, load = 0, 0, 0
    for leg in range(stops - 1):
        load += change[leg]
        if load > best_load:
            best_leg, best_load = leg, load
    return [best_leg, best_load]
