"""Flaw: with several equally full legs the last one is returned."""


def busiest_leg(stops: int, trips: list[list[int]]) -> list[int]:
    if stops < 2:
        raise ValueError("too few stops")
    load = [0] * (stops - 1)
    for start, goal in trips:
        if not 0 <= start < goal <= stops - 1:
            raise ValueError("bad trip")
        for leg in range(start, goal):
            load[leg] += 1
    best, leg = max((count, leg) for leg, count in enumerate(load))
    return [leg, best]
