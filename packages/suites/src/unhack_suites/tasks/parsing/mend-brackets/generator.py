"""Random bracket texts: pure noise, and balanced texts damaged by deletions and swaps."""

import random

PAIRS = ("()", "[]", "{}")


def _balanced(rng: random.Random, size: int) -> str:
    if size <= 0:
        return rng.choice(["", "", "x", "a+b"])
    inner = rng.randint(0, size - 1)
    opening, closing = rng.choice(PAIRS)
    return opening + _balanced(rng, inner) + closing + _balanced(rng, size - 1 - inner)


def generate(rng: random.Random) -> dict[str, object]:
    depth = rng.randint(1, 4)
    if rng.random() < 0.5:
        alphabet = rng.choice(["()[]{}", "()[]{}a ", "(){}", "[](", "()[]"])
        count = rng.choice([0, 1, 2, rng.randint(3, 8), rng.randint(9, 24), rng.randint(9, 40)])
        return {"args": ["".join(rng.choice(alphabet) for _ in range(count)), depth]}
    characters = list(_balanced(rng, rng.randint(1, 12)))[:40]
    for _ in range(rng.randint(0, 5)):
        if len(characters) < 2:
            break
        at = rng.randrange(len(characters) - 1)
        if rng.random() < 0.5:
            del characters[at]
        else:
            characters[at], characters[at + 1] = characters[at + 1], characters[at]
    return {"args": ["".join(characters), depth]}
