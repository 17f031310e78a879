"""Random plans without circles: 0 to 20 steps, needs along a hidden order, repeated pairs."""

import random

NAMES = (
    "bake boil braise chill chop clean cool drain dress dust fold fry glaze grate grill knead "
    "layer mash melt mix peel plate proof rest rinse roast roll salt sear sift simmer slice "
    "soak sort steam stir strain toast trim whisk"
).split()


def generate(rng: random.Random) -> dict[str, object]:
    count = rng.choice([0, 1, 2, rng.randint(3, 6), rng.randint(7, 20)])
    order = rng.sample(NAMES, count)
    needs: list[list[object]] = []
    if count >= 2:
        for _ in range(rng.randint(0, 2 * count)):
            i, j = sorted(rng.sample(range(count), 2))
            needs.append([order[i], order[j], rng.choice([1, 1, 1, 2, 2, 3, 5])])
            if rng.random() < 0.2:
                needs.append([order[i], order[j], rng.choice([1, 2, 4])])
    steps = order[:]
    rng.shuffle(steps)
    rng.shuffle(needs)
    return {"args": [steps, needs]}
