"""Random outlines of 0 to 25 lines with jumping depths, dotted names and lines to skip."""

import random

NAMES = ("oak", "ash", "elm", "v1.2", "etc..", "big saw", "nails 3.5", " pad", "x", "7", "end ")


def generate(rng: random.Random) -> dict[str, object]:
    lines = []
    depth = 0
    for _ in range(rng.choice([0, 1, rng.randint(2, 6), rng.randint(7, 25)])):
        depth = max(0, depth + rng.choice([-3, -2, -1, -1, 0, 0, 1, 1, 1, 2, 3]))
        if rng.random() < 0.1:
            lines.append("." * rng.choice([0, depth, 5]))
        else:
            lines.append("." * depth + rng.choice(NAMES))
    return {"args": [lines]}
