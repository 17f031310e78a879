"""Flaw: ignores the gap when changing trams."""


def earliest_arrival(
    legs: list[list[int]], gap: int, origin: int, target: int, begin: int
) -> int:
    reached = {origin: begin}
    for _, here, there, depart, arrive in sorted(legs, key=lambda leg: leg[3]):
        if here in reached and depart >= reached[here]:
            reached[there] = min(reached.get(there, arrive), arrive)
    return reached.get(target, -1)
