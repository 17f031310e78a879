"""Small numbers, numbers of the form 4^k (8m + 7), squares and large numbers."""

import random


def generate(rng: random.Random) -> dict:
    kind = rng.randrange(4)
    if kind == 0:
        tiles = rng.randint(0, 150)
    elif kind == 1:
        power = rng.choice([1, 4, 16, 64])
        tiles = power * (8 * rng.randint(0, 20000 // (8 * power) - 1) + 7)
    elif kind == 2:
        tiles = rng.randint(0, 141) ** 2
    else:
        tiles = rng.randint(0, 20000)
    return {"args": [tiles]}
