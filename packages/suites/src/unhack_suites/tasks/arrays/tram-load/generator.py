"""Valid lines and trips (the inputs that raise are fixed cases)."""

import random


def generate(rng: random.Random) -> dict:
    stops = rng.choice([2, 3, 4, 6, 8, 10, 25, 100])
    trips = []
    for _ in range(rng.choice([rng.randint(0, 1), 2, 3, 4, 7, 12, 30])):
        start, goal = sorted(rng.sample(range(stops), 2))
        if rng.random() < 0.4:
            goal = min(goal, start + 2)
        trips.append([start, goal])
    return {"args": [stops, trips]}
