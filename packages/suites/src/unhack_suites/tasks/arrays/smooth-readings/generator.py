"""Series with different shares of gaps and zeros, and radii up to the length of the list."""

import random


def generate(rng: random.Random) -> dict:
    size = rng.choice([rng.randint(0, 2), 3, 4, 6, 9, 12, 20, 40])
    gap_share = rng.choice([0.0, 0.2, 0.5, 0.8])
    readings: list[float | None] = []
    for _ in range(size):
        if rng.random() < gap_share:
            readings.append(None)
        else:
            value = rng.choice([0, rng.randint(-10, 10), round(rng.uniform(-100, 100), 2)])
            readings.append(value)
    return {"args": [readings, rng.choice([0, 1, 1, 2, 3, 10])]}
