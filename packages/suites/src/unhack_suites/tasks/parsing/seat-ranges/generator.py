"""Random specs of 0 to 12 items with sticky rows, both directions, overlaps and spaces."""

import random


def generate(rng: random.Random) -> dict[str, object]:
    count = rng.choice([0, 1, 2, rng.randint(3, 6), rng.randint(7, 12)])
    top = rng.choice([9, 30, 999])
    rows = rng.sample("ABCDEFGHJKLMNPQRSTUVWXYZ", rng.randint(1, 3))
    spaced = rng.random() < 0.4
    spec = ""
    for index in range(count):
        if index:
            spec += rng.choice([",", ", ", " ,", " , "]) if spaced else ","
        if index == 0 or rng.random() < 0.4:
            spec += rng.choice(rows)
        start = rng.randint(1, top)
        spec += str(start)
        if rng.random() < 0.5:
            end = start + rng.randint(-6, 6)
            spec += f"-{min(top, max(1, end))}"
    if spaced:
        spec = " " * rng.randint(0, 2) + spec + " " * rng.randint(0, 2)
    return {"args": [spec]}
