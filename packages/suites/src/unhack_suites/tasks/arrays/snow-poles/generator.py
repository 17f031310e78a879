"""Rows with few or many different heights, rising and falling stretches."""

import random


def generate(rng: random.Random) -> dict:
    size = rng.choice([rng.randint(0, 2), 3, 4, 5, 7, 8, 12, 30])
    low, high = rng.choice([(-3, 3), (0, 5), (-20, -1), (-1000, 1000)])
    tops = [rng.randint(low, high) for _ in range(size)]
    if rng.random() < 0.25:
        peak = rng.randint(0, size)
        tops = sorted(tops[:peak]) + sorted(tops[peak:], reverse=True)
    return {"args": [tops]}
