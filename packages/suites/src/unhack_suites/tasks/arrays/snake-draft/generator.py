"""Any number of players and teams, with full and incomplete last rounds."""

import random


def generate(rng: random.Random) -> dict:
    teams = rng.choice([1, 2, 2, 3, 4, 5, 8, 12])
    low, high = rng.choice([(0, 4), (3, 15), (10, 40)])
    size = rng.randint(low, high)
    if rng.random() < 0.25:
        size -= size % teams
    names = [f"p{i}" for i in range(size)]
    if rng.random() < 0.3:
        names = [rng.choice(["Ann", "Ben", "Cy", "Di"]) for _ in range(size)]
    rng.shuffle(names)
    return {"args": [names, teams]}
