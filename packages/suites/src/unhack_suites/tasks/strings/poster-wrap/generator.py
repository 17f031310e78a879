"""Texts with word lengths around the width of the poster."""

import random

LETTERS = "abcdefgh-"


def generate(rng: random.Random) -> dict:
    width = rng.choice([2, 3, 4, 5, 8, 12, 30])
    words = []
    total = 0
    for _ in range(rng.choice([0, 1, 3, 5, 7, 10, 15, 25])):
        sizes = [1, 2, width // 2, width - 1, width, width + 1, 2 * width, 3 * width]
        size = rng.choice(sizes)
        if total + size + 2 > 190:
            break
        total += size + 2
        words.append("".join(rng.choice(LETTERS) for _ in range(size)))
    text = (" " if rng.random() < 0.7 else "  ").join(words)
    return {"args": [text, width]}
