"""Numbers of every length, with many zeros in some of them."""

import random


def generate(rng: random.Random) -> dict:
    size = rng.choice([1, 2, 3, 4, 5, 6, 7, 9, 10, 12])
    digits = rng.choice(["0123456789", "0012", "0019"])
    text = rng.choice("123456789") + "".join(rng.choice(digits) for _ in range(size - 1))
    return {"args": [int(text)]}
