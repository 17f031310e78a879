"""Random towers: mostly rooms leading on, a few exits and dead ends, from 0 to 60 rooms."""

import random


def generate(rng: random.Random) -> dict[str, object]:
    rooms = rng.choice([0, 1, rng.randint(2, 6), rng.randint(7, 25), rng.randint(26, 60)])
    ends = rng.choice([0.02, 0.15, 0.4])
    chutes = []
    for room in range(rooms):
        if rng.random() < ends:
            chutes.append(rng.choice([-1, -2]))
        elif rng.random() < 0.4:
            chutes.append(rng.randrange(max(0, room - 3), min(rooms, room + 4)))
        else:
            chutes.append(rng.randrange(rooms))
    return {"args": [chutes]}
