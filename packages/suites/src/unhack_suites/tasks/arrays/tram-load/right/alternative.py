"""The fullest leg can be sought among the legs where someone gets on; each is counted directly."""


def busiest_leg(stops: int, trips: list[list[int]]) -> list[int]:
    bad = [trip for trip in trips if trip[0] < 0 or trip[1] >= stops or trip[0] >= trip[1]]
    if stops <= 1 or bad:
        raise ValueError(f"{stops} stops, impossible trips: {bad}")
    best = [0, 0]
    for leg in sorted({start for start, _ in trips}):
        load = sum(1 for start, goal in trips if start <= leg < goal)
        if load > best[1]:
            best = [leg, load]
    return best
