"""Short and long shifts, touching, nested, empty and outside ones, on small and full scales."""

import random


def generate(rng: random.Random) -> dict:
    scale = rng.choice([12, 60, 1440])
    opening, closing = sorted(rng.randint(0, scale) for _ in range(2))
    if rng.random() < 0.5:
        opening, closing = scale // 4, scale - scale // 4
    shifts = []
    for _ in range(rng.choice([rng.randint(0, 1), 2, 3, 4, 6, 10, 16])):
        start = rng.randint(0, scale)
        length = rng.choice([0, 1, scale // 12, scale // 8, scale // 3])
        shifts.append([start, min(scale, start + length)])
        if rng.random() < 0.2:
            shifts.append([shifts[-1][1], min(scale, shifts[-1][1] + 1)])
    rng.shuffle(shifts)
    return {"args": [opening, closing, shifts]}
