"""Random pours with some empty ones, and all kinds of drift."""

import random


def generate(rng: random.Random) -> dict:
    pours = []
    for _ in range(rng.choice([0, 1, 2, 3, 4, 6, 10, 30])):
        litres = rng.choice([0, rng.randint(1, 10), rng.randint(1, 10), rng.uniform(0.1, 99.0)])
        pours.append([round(litres, 2), round(rng.uniform(-20, 100), 1)])
    room = rng.choice([rng.randint(-20, 40), round(rng.uniform(0, 30), 1)])
    drift = rng.choice([0, 1, 0.5, 0.25, round(rng.random(), 3)])
    return {"args": [pours, room, drift]}
