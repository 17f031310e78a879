"""Flaw: scans the legs once in the order given, without sorting them by departure."""


def earliest_arrival(
    legs: list[list[int]], gap: int, origin: int, target: int, begin: int
) -> int:
    if origin == target:
        return begin
    anyhow: dict[int, int] = {}
    aboard: dict[tuple[int, int], int] = {}
    for tram, here, there, depart, arrive in legs:
        first = here == origin and depart >= begin
        changing = here in anyhow and depart >= anyhow[here] + gap
        staying = (here, tram) in aboard and depart >= aboard[here, tram]
        if first or changing or staying:
            anyhow[there] = min(anyhow.get(there, arrive), arrive)
            aboard[there, tram] = min(aboard.get((there, tram), arrive), arrive)
    return anyhow.get(target, -1)
