"""Flaw: treats the start like a change of trams, so the first leg needs the gap too."""


def earliest_arrival(
    legs: list[list[int]], gap: int, origin: int, target: int, begin: int
) -> int:
    if origin == target:
        return begin
    anyhow = {origin: begin}
    aboard: dict[tuple[int, int], int] = {}
    for tram, here, there, depart, arrive in sorted(legs, key=lambda leg: leg[3]):
        changing = here in anyhow and depart >= anyhow[here] + gap
        staying = (here, tram) in aboard and depart >= aboard[here, tram]
        if changing or staying:
            anyhow[there] = min(anyhow.get(there, arrive), arrive)
            aboard[there, tram] = min(aboard.get((there, tram), arrive), arrive)
    return anyhow.get(target, -1)
