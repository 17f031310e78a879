"""Random nested patterns, kept below the limits on written and expanded length."""

import random


def _items(rng: random.Random, depth: int) -> tuple[str, int]:
    text = ""
    size = 0
    for _ in range(rng.choice([0, 1, 2, 3, 4, 5, 6]) if depth < 3 else 4):
        if rng.random() < 0.3:
            text += " "
        roll = rng.random()
        if roll < 0.2:
            text += "/"
            size += 1
        elif roll < 0.45 and depth > 0:
            inner, inner_size = _items(rng, depth - 1)
            count = rng.choice([0, 1, 2, 3, 10])
            text += f"({inner})x{count}"
            size += inner_size * count
        else:
            count = rng.choice([0, 1, 2, 3, 11])
            shown = "" if count == 1 and rng.random() < 0.7 else str(count)
            text += rng.choice("kkppsy") + shown
            size += count
    return text, size


def generate(rng: random.Random) -> dict:
    while True:
        text, size = _items(rng, rng.choice([0, 1, 2, 3, 3, 3]))
        if len(text) <= 120 and size <= 400:
            return {"args": [text]}
