"""Scans the legs by departure, keeping the earliest arrival per stop and per (stop, tram)."""

NEVER = 10**9


def earliest_arrival(
    legs: list[list[int]], gap: int, origin: int, target: int, begin: int
) -> int:
    if origin == target:
        return begin
    anyhow: dict[int, int] = {}
    aboard: dict[tuple[int, int], int] = {}
    best = NEVER
    for tram, here, there, depart, arrive in sorted(legs, key=lambda leg: leg[3]):
        possible = (
            (here == origin and depart >= begin)
            or depart >= aboard.get((here, tram), NEVER)
            or depart >= anyhow.get(here, NEVER) + gap
        )
        if not possible:
            continue
        anyhow[there] = min(anyhow.get(there, NEVER), arrive)
        aboard[there, tram] = min(aboard.get((there, tram), NEVER), arrive)
        if there == target:
            best = min(best, arrive)
    return -1 if best == NEVER else best
