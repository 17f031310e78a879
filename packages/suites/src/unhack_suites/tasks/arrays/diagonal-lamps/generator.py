"""Grids got by random presses (always possible) and random grids (sometimes impossible)."""

import random

SINGULAR = [(2, 2), (2, 5), (5, 2), (4, 4)]


def generate(rng: random.Random) -> dict:
    rows, cols = rng.randint(1, 5), rng.randint(1, 5)
    if rng.random() < 0.35:
        rows, cols = rng.choice(SINGULAR)
    lamps = [[0] * cols for _ in range(rows)]
    if rng.random() < 0.5:
        lamps = [[rng.randint(0, 1) for _ in range(cols)] for _ in range(rows)]
    else:
        for _ in range(rng.randint(1, rows * cols)):
            r, c = rng.randrange(rows), rng.randrange(cols)
            for y, x in ((r, c), (r - 1, c - 1), (r - 1, c + 1), (r + 1, c - 1), (r + 1, c + 1)):
                if 0 <= y < rows and 0 <= x < cols:
                    lamps[y][x] ^= 1
    return {"args": [lamps]}
