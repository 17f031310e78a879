"""Random walks, noise and saw teeth around the size of the gap."""

import random


def generate(rng: random.Random) -> dict:
    gap = rng.choice([1, 2, 3, 5, 8, 40])
    size = rng.choice([rng.randint(0, 2), 4, 6, 8, 10, 15, 25, 40])
    kind = rng.randrange(3)
    altitudes: list[int] = []
    level = rng.randint(-20, 20)
    for i in range(size):
        if kind == 0:
            level = rng.randint(-2 * gap, 2 * gap)
        elif kind == 1:
            level += rng.randint(-gap, gap)
        else:
            level += (1 if i % 2 else -1) * rng.randint(gap // 2, gap + 2)
        level = max(-1000, min(1000, level))
        altitudes.append(level)
    return {"args": [altitudes, gap]}
