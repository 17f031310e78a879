"""Random bays: tiny, sparse and denser ones, with repeated routes and loops."""

import random


def generate(rng: random.Random) -> dict[str, object]:
    islands = rng.choice([1, 2, rng.randint(3, 8), rng.randint(9, 40)])
    count = rng.randint(0, islands + rng.randint(0, islands))
    routes = []
    for _ in range(count):
        a, b = rng.randint(1, islands), rng.randint(1, islands)
        routes.append([a, b, rng.randint(1, 7)])
        if rng.random() < 0.15:
            routes.append([b, a, rng.randint(1, 7)])
    return {"args": [islands, routes, rng.choice([1, 2, 3, 4, 5, 6, 7, 8])]}
