"""Near and far targets, wraps, equal numbers and carries."""

import random


def generate(rng: random.Random) -> dict:
    wheels = rng.choice([1, 2, 2, 3, 3, 3, 4])
    size = 10**wheels
    start = rng.randrange(size)
    if rng.random() < 0.35:
        start = size - 1 - rng.randrange(min(size, 12))
    kind = rng.random()
    if kind < 0.45:
        end = rng.randrange(size)
    elif kind < 0.92:
        end = (start + rng.randint(1, 40)) % size
    else:
        end = start
    return {"args": [start, end, wheels]}
