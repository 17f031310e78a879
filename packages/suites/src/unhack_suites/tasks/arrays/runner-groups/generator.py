"""Small times with many ties, slow drifts and wild queues, with fees to match the spreads."""

import random


def generate(rng: random.Random) -> dict:
    size = rng.choice([rng.randint(0, 3), 4, 5, 6, 8, 10, 12, 20, 40])
    kind = rng.randrange(3)
    if kind == 0:
        top = rng.choice([2, 5, 10])
        times = [rng.randint(0, top) for _ in range(size)]
        fee = rng.choice([0, 1, 2, 4, 9, 16, 25, rng.randint(0, 60)])
    elif kind == 1:
        times = []
        level = rng.randint(0, 500)
        for _ in range(size):
            level = max(0, min(1000, level + rng.choice([-1, 0, 1, 1, 2, 3])))
            times.append(level)
        fee = rng.randint(0, 30)
    else:
        times = [rng.randint(0, 1000) for _ in range(size)]
        fee = rng.choice([rng.randint(0, 10**4), rng.randint(0, 10**6)])
    return {"args": [times, fee]}
