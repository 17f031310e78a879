"""Random clubs of 1 to 14 members with repeated friendships and a small threshold."""

import random


def generate(rng: random.Random) -> dict[str, object]:
    people = rng.choice([1, 2, rng.randint(3, 6), rng.randint(7, 14)])
    chance = rng.choice([0.15, 0.35, 0.6])
    friends = []
    for a in range(people):
        for b in range(a + 1, people):
            if rng.random() < chance:
                friends.append([a, b] if rng.random() < 0.5 else [b, a])
                if rng.random() < 0.15:
                    friends.append([b, a] if rng.random() < 0.5 else [a, b])
    rng.shuffle(friends)
    return {"args": [people, friends, rng.choice([1, 1, 2, 2, 3])]}
