"""Random cellars: zero to four parcels, corridors, open and walled plans, unreachable cells."""
import random


def generate(rng: random.Random) -> dict[str, str]:
    rows, columns = rng.choice(
        [(1, 9), (1, 10), (2, 5), (2, 6), (3, 4), (4, 4), (5, 7), (7, 6), (10, 1), (9, 9), (10, 10)]
    )
    bag = rng.choice([1, 1, 2, 2, 3])
    walls = 0.0 if 1 in (rows, columns) else rng.choice([0.0, 0.05, 0.1, 0.2, 0.3])
    letters = rng.sample("abcd", rng.choice([0, 1, 2, 3, 3, 4, 4, 4]))
    marks = "S" + "".join(letters) + "".join(letters).upper()
    cells = ["#" if rng.random() < walls else "." for _ in range(rows * columns)]
    for place, mark in zip(rng.sample(range(rows * columns), len(marks)), marks):
        cells[place] = mark
    lines = ["".join(cells[r * columns : (r + 1) * columns]) for r in range(rows)]
    return {"stdin": "\n".join([f"{rows} {columns} {bag}", *lines]) + "\n"}
