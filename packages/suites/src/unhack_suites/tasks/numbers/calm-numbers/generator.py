"""Small ranges, ranges round powers of ten, and very large ranges."""

import random


def generate(rng: random.Random) -> dict:
    kind = rng.randrange(3)
    if kind == 0:
        low = rng.randint(0, 200)
        high = low + rng.randint(0, 3000)
    elif kind == 1:
        power = 10 ** rng.randint(1, 15)
        low = max(0, power - rng.randint(0, 300))
        high = min(10**15, power + rng.randint(0, 300))
    else:
        ends = [rng.randint(0, 10 ** rng.randint(3, 15)) for _ in range(2)]
        low, high = min(ends), max(ends)
    step = rng.choice([0, 1, 1, 2, 3, 5, 8, 9])
    return {"args": [low, high, step, rng.randint(1, 12)]}
