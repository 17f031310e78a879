"""Families of rotations, reversals, shuffles and extended copies of a few bracelets."""

import random


def _regrouped(first: int, second: int) -> list[int]:
    """Two other numbers with the same digits in a row, if that is possible."""
    left, right = str(first), str(second)
    if len(left) > 1 and left[-1] != "0":
        return [int(left[:-1]), int((left[-1] + right)[:3])]
    if len(right) > 1 and right[1] != "0":
        return [int((left + right[0])[:3]), int(right[1:])]
    return [second, first]


def generate(rng: random.Random) -> dict:
    pool = rng.choice([[1, 2], [0, 1, 2, 3], [1, 2, 11, 12, 21, 112, 121], list(range(1000))])
    bases = []
    for _ in range(rng.randint(1, 3)):
        bases.append([rng.choice(pool) for _ in range(rng.choice([0, 1, 2, 3, 5, 8, 12]))])
    bracelets = []
    for _ in range(rng.choice([rng.randint(0, 2), 4, 6, 8, 12])):
        beads = list(rng.choice(bases))
        kind = rng.randrange(10)
        if kind == 0:
            beads.reverse()
        elif kind == 1:
            rng.shuffle(beads)
        elif kind == 2:
            beads = beads[:6] * 2
        elif kind == 3 and len(beads) > 1:
            beads[:2] = _regrouped(beads[0], beads[1])
        elif beads:
            shift = rng.randrange(len(beads))
            beads = beads[shift:] + beads[:shift]
        bracelets.append(beads)
    return {"args": [bracelets]}
