"""Short messages, any width, near and far ticks of both signs."""

import random

LETTERS = "abcdeXYZ !"


def generate(rng: random.Random) -> dict:
    size = rng.choice([0, 1, 2, 3, 5, 7, 9, 14, 20])
    text = "".join(rng.choice(LETTERS) for _ in range(size))
    low, high = rng.choice([(0, 2), (2, 12), (5, 25), (13, 40)])
    width = rng.randint(low, high)
    gap = rng.choice([0, 0, 1, rng.randint(0, 10)])
    tick = rng.choice([rng.randint(-30, 30), rng.randint(-(10**9), 10**9)])
    return {"args": [text, width, gap, tick]}
