"""Levels close to the limit, with different shares of loud minutes."""

import random


def generate(rng: random.Random) -> dict:
    limit = rng.randint(-5, 90)
    loud = rng.choice([0.1, 0.3, 0.4, 0.5, 0.7])
    size = rng.choice([rng.randint(0, 2), 4, 7, 10, 16, 25, 60])
    levels = []
    for _ in range(size):
        offset = rng.randint(1, 5) if rng.random() < loud else -rng.randint(0, 3)
        levels.append(limit + offset)
    return {"args": [levels, limit]}
