"""Random lamp nets of 1 to 20 poles: trees with a few extra, doubled and looping cables."""

import random


def generate(rng: random.Random) -> dict[str, object]:
    poles = rng.choice([1, 2, rng.randint(3, 6), rng.randint(7, 20)])
    cables = []
    for pole in range(1, poles):
        if rng.random() < 0.85:
            cables.append([pole, rng.randrange(max(0, pole - 4), pole)])
    for _ in range(rng.randint(0, 1 + poles // 3)):
        cables.append([rng.randrange(poles), rng.randrange(poles)])
    if cables and rng.random() < 0.4:
        a, b = rng.choice(cables)
        cables.append([b, a] if rng.random() < 0.5 else [a, b])
    names = list(range(poles))
    rng.shuffle(names)
    cables = [[names[a], names[b]] for a, b in cables]
    rng.shuffle(cables)
    return {"args": [poles, cables]}
