"""Random offices of 1 to 40 people, sparse lists, some shy people, sometimes a shy starter."""

import random


def generate(rng: random.Random) -> dict[str, object]:
    people = rng.choice([1, 2, rng.randint(3, 7), rng.randint(8, 40)])
    tells = []
    for _ in range(people):
        count = rng.choice([0, 1, 1, 2, 2, 3])
        tells.append([rng.randrange(people) for _ in range(count)])
    starter = rng.randrange(people)
    shy = [rng.randrange(people) for _ in range(rng.randint(0, people // 3))]
    if rng.random() < 0.25:
        shy.insert(rng.randint(0, len(shy)), starter)
    return {"args": [tells, starter, shy]}
