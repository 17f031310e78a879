"""Random timetables: a few trams wandering over 2 to 7 stops, legs shuffled; some with a trap."""

import random


def _trap(rng: random.Random, gap: int, stops: int) -> list[list[int]]:
    """Legs by which the first tram at stop 1 is not the one that goes on in time to stop 2."""
    early = rng.randint(1, 10)
    late = early + rng.randint(1, max(1, gap))
    go = late + rng.randint(0, 3)
    arrive = go + rng.randint(1, 6)
    legs = [[90, 0, 1, 0, early], [91, 0, 1, 0, late], [91, 1, 2, go, arrive]]
    if rng.random() < 0.6:
        depart = early + gap + rng.randint(0, 6)
        legs.append([92, 1, 2, depart, depart + rng.randint(1, 12)])
    if stops > 3 and rng.random() < 0.5:
        legs.append([rng.choice([91, 93]), 2, 3, arrive + rng.randint(0, gap), arrive + gap + 9])
    return legs


def generate(rng: random.Random) -> dict[str, object]:
    stops = rng.choice([2, rng.randint(3, 5), rng.randint(4, 7)])
    gap = rng.choice([0, 1, 3, 5, 8, 15])
    legs = []
    for tram in range(1, rng.choice([1, 2, 3, 5, 7]) + 1):
        time = rng.randint(0, 40)
        here = rng.randrange(stops)
        for _ in range(rng.randint(1, 6)):
            there = rng.choice([stop for stop in range(stops) if stop != here])
            arrive = time + rng.randint(1, 12)
            legs.append([tram, here, there, time, arrive])
            here = there
            time = arrive + rng.choice([0, 0, 1, 2, 5])
    origin = rng.choice(legs)[1] if rng.random() < 0.9 else rng.randrange(stops)
    target = rng.randrange(stops)
    begin = rng.choice([0, 0, rng.randint(0, 30)])
    if stops > 2 and rng.random() < 0.4:
        legs = rng.sample(legs, min(len(legs), 8)) + _trap(rng, gap, stops)
        origin, target, begin = 0, rng.choice([2, 2, stops - 1]), 0
    rng.shuffle(legs)
    return {"args": [legs, gap, origin, target, begin]}
