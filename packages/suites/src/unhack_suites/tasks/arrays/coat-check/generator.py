"""Evenings with few names and hooks, so that hooks run out and names come back."""

import random

NAMES = ["Ann", "Bob", "Cy", "Di", "Eve", "Flo", "Gus", "ann", "Hal", "Ivo"]


def generate(rng: random.Random) -> dict:
    hooks = rng.choice([rng.randint(0, 1), 2, 3, 4, 5, 6, 8])
    names = NAMES[: rng.randint(2, len(NAMES))]
    events = []
    for _ in range(rng.choice([rng.randint(0, 4), 8, 12, 16, 20, 30, 45])):
        roll = rng.random()
        if roll < 0.1:
            events.append(["tidy"])
        elif roll < 0.45:
            events.append(["out", rng.choice(names)])
        else:
            events.append(["in", rng.choice(names)])
    return {"args": [hooks, events]}
