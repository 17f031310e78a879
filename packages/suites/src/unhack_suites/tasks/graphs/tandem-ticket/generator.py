"""Random road maps of 1 to 14 towns; layered ones make the ticket change the best route."""

import random


def _layered(rng: random.Random) -> dict[str, object]:
    """Every town of a layer leads to every town of the next; tolls may grow towards the goal."""
    layers = rng.randint(1, 4)
    width = rng.randint(2, 3)
    towns = layers * width + 2
    groups = [[0], *(range(1 + n * width, 1 + (n + 1) * width) for n in range(layers)), [towns - 1]]
    growing = rng.random() < 0.5
    roads = []
    for number, (left, right) in enumerate(zip(groups, groups[1:])):
        top = 2 + 8 * number if growing else 15
        for a in left:
            for b in right:
                if rng.random() < 0.9:
                    roads.append([a, b, rng.choice([0, top, rng.randint(1, top)])])
    rng.shuffle(roads)
    return {"args": [towns, roads, 0, towns - 1]}


def generate(rng: random.Random) -> dict[str, object]:
    if rng.random() < 0.5:
        return _layered(rng)
    towns = rng.choice([1, 2, rng.randint(3, 6), rng.randint(7, 14)])
    top = rng.choice([5, 30, 1000000])
    roads = [
        [rng.randrange(towns), rng.randrange(towns), rng.randint(0, top)]
        for _ in range(rng.randint(0, 3 * towns))
    ]
    return {"args": [towns, roads, rng.randrange(towns), rng.randrange(towns)]}
