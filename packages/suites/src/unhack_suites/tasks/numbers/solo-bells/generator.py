"""Related, equal and unrelated periods; small and very large k."""

import random

FRIENDLY = [2, 3, 4, 6, 8, 9, 10, 12, 15, 18, 20, 24, 30, 36, 60]


def generate(rng: random.Random) -> dict:
    count = rng.randint(1, 6)
    if rng.random() < 0.5:
        periods = [rng.choice(FRIENDLY) for _ in range(count)]
    else:
        periods = [rng.randint(1, 60) for _ in range(count)]
    if count > 1 and rng.random() < 0.15:
        periods[0] = periods[-1]
    k = rng.choice([rng.randint(1, 10), rng.randint(1, 10**4), rng.randint(1, 10**12)])
    return {"args": [periods, k]}
