"""Loads of every magnitude and sign, with borders of the reachable ranges."""

import random


def generate(rng: random.Random) -> dict:
    base = rng.choice([3, 3, 5, 7, 9, 11, 13, 15])
    kind = rng.randrange(4)
    if kind == 0:
        load = rng.choice([0, rng.randint(-30, 30), rng.randint(-30, 30)])
    elif kind == 1:
        border = (base ** rng.randint(1, 12) - 1) // 2
        load = rng.choice([-1, 1]) * (border + rng.randint(-1, 2))
    elif kind == 2:
        load = rng.randint(-5000, 5000)
    else:
        load = rng.randint(-(10**15), 10**15)
    return {"args": [load, base]}
