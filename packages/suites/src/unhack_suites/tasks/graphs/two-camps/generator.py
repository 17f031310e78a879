"""Mostly solvable troops built from groups with a chosen gap, sometimes random or contradictory."""

import random


def generate(rng: random.Random) -> dict[str, object]:
    quarrels: list[list[int]] = []
    pals: list[list[int]] = []
    if rng.random() < 0.3:
        scouts = rng.choice([0, 1, 2, rng.randint(3, 10)])
        if scouts:
            for target in (quarrels, pals):
                for _ in range(rng.randint(0, scouts // 2)):
                    target.append([rng.randrange(scouts), rng.randrange(scouts)])
        return {"args": [scouts, quarrels, pals]}
    scouts = 0
    sizes = rng.choice([[2, 3], [1, 2, 3, 4], [3, 4, 5, 6], [3, 5, 7]])
    for _ in range(rng.randint(2, 7)):
        north = rng.choice(sizes)
        south = rng.choice([0, 0, 0, 1, 2])
        members = list(range(scouts, scouts + north + south))
        scouts += north + south
        for i in range(1, north + south):
            j = rng.randrange(i)
            target = pals if (i < north) == (j < north) else quarrels
            target.append([members[i], members[j]])
    names = list(range(scouts))
    rng.shuffle(names)
    quarrels = [[names[a], names[b]] for a, b in quarrels]
    pals = [[names[a], names[b]] for a, b in pals]
    if rng.random() < 0.1:
        quarrels.append(rng.sample(range(scouts), 2))
    rng.shuffle(quarrels)
    rng.shuffle(pals)
    return {"args": [scouts, quarrels, pals]}
