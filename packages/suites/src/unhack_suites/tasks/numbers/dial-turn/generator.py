"""Small dials with near marks, exact opposites, and far-off numbers."""

import random


def generate(rng: random.Random) -> dict:
    marks = rng.choice([rng.randint(1, 4), 5, 8, 12, 60, rng.randint(1, 100), rng.randint(1, 1000)])
    kind = rng.randrange(4)
    if kind == 0:
        here, there = rng.randrange(marks), rng.randrange(marks)
    elif kind == 1:
        here = rng.randint(-50, 50)
        there = here + marks // 2 + rng.choice([-1, 0, 0, 1])
    elif kind == 2:
        here = rng.randint(-(10**12), 10**12)
        there = rng.randint(-(10**12), 10**12)
    else:
        here, there = rng.randint(-2 * marks, 2 * marks), rng.randint(-2 * marks, 2 * marks)
    return {"args": [here, there, marks]}
