"""Grids of all shapes, also single rows and columns; steps of both signs."""

import random


def generate(rng: random.Random) -> dict:
    rows = rng.choice([1, 2, 3, 3, 4, 5, 8])
    cols = rng.choice([1, 2, 3, 3, 4, 5, 8])
    grid = [[rng.randint(0, 99) for _ in range(cols)] for _ in range(rows)]
    steps = rng.choice([rng.randint(-5, 5), rng.randint(-60, 60), rng.randint(-(10**9), 10**9)])
    return {"args": [grid, steps]}
