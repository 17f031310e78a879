"""Lists of labels built from few fragments, so that near ties are common."""

import random

FRAGMENTS = ["a", "A", "b", "B", "1", "01", "2", "10", "010", "9", " ", "-", "_", ".", "vol"]


def generate(rng: random.Random) -> dict:
    labels = []
    pool = FRAGMENTS if rng.random() < 0.6 else rng.sample(FRAGMENTS, 4)
    for _ in range(rng.choice([0, 2, 3, 5, 8, 12, 20, 40])):
        label = "".join(rng.choice(pool) for _ in range(rng.randint(0, 5)))
        labels.append(label[:20])
    return {"args": [labels]}
