"""Valid bills with small, equal, zero and very large weights."""

import random


def generate(rng: random.Random) -> dict:
    count = rng.choice([1, 2, 3, 4, 5, 7, 12, 40])
    top = rng.choice([2, 5, 10, 100, 10**12])
    weights = [rng.randint(0, top) for _ in range(count)]
    if rng.random() < 0.2:
        weights = [rng.randint(1, top)] * count
    if not any(weights):
        weights[rng.randrange(count)] = 1
    total = rng.choice([rng.randint(0, 20), rng.randint(0, 10**4), rng.randint(0, 10**18)])
    return {"args": [total, weights]}
