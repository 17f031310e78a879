"""Names made of random words, hyphenated words and particles, with irregular spacing."""

import random
import string

PARTICLES = ["da", "de", "la", "van", "von", "De", "VAN", "La"]


def _part(rng: random.Random) -> str:
    return "".join(rng.choice(string.ascii_letters) for _ in range(rng.randint(1, 5)))


def _word(rng: random.Random) -> str:
    if rng.random() < 0.4:
        return rng.choice(PARTICLES)
    return "-".join(_part(rng) for _ in range(rng.choice([1, 1, 1, 2, 3])))


def generate(rng: random.Random) -> dict:
    words: list[str] = []
    for _ in range(rng.choice([0, 1, 2, 3, 3, 4, 4, 5, 6, 7])):
        word = _word(rng)
        if sum(len(w) + 2 for w in words) + len(word) <= 50:
            words.append(word)
    gap = " " if rng.random() < 0.6 else "  "
    name = gap.join(words)
    if rng.random() < 0.3:
        name = " " * rng.randint(0, 3) + name + " " * rng.randint(0, 3)
    return {"args": [name]}
