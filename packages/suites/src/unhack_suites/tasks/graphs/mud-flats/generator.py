"""Random flats from 1 x 1 to 8 x 8 with tides of 1 to 6 minutes; the start is dry at minute 0."""

import random


def generate(rng: random.Random) -> dict[str, object]:
    rows = rng.choice([1, 2, rng.randint(2, 5), rng.randint(3, 8)])
    columns = rng.choice([1, rng.randint(2, 5), rng.randint(3, 8)])
    tide = [rng.choice([0, 1, 2, 2, 3, 3, 4, 5, 6]) for _ in range(rng.choice([1, 2, 3, 4, 6]))]
    digits = rng.choice(["0123456789", "2345", "3456789", "133579"])
    cells = [[rng.choice(digits) for _ in range(columns)] for _ in range(rows)]
    start = [rng.randrange(rows), rng.randrange(columns)]
    goal = [rng.randrange(rows), rng.randrange(columns)]
    if rng.random() < 0.5:
        start, goal = [0, 0], [rows - 1, columns - 1]
    lowest = tide[0] + 1
    if int(cells[start[0]][start[1]]) < lowest:
        cells[start[0]][start[1]] = str(rng.randint(lowest, 9))
    if rng.random() < 0.7:
        cells[goal[0]][goal[1]] = str(max(int(cells[goal[0]][goal[1]]), lowest))
    return {"args": [["".join(line) for line in cells], tide, start, goal]}
