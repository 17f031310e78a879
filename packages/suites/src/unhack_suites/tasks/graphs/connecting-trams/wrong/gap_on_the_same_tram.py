"""Flaw: asks for the gap before every leg but the first, even when staying on the tram."""


def earliest_arrival(
    legs: list[list[int]], gap: int, origin: int, target: int, begin: int
) -> int:
    if origin == target:
        return begin
    reached: dict[int, int] = {}
    for _, here, there, depart, arrive in sorted(legs, key=lambda leg: leg[3]):
        first = here == origin and depart >= begin
        if first or (here in reached and depart >= reached[here] + gap):
            reached[there] = min(reached.get(there, arrive), arrive)
    return reached.get(target, -1)
