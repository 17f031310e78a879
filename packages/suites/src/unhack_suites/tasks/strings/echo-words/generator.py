"""Texts of random echoing, nearly echoing and plain words with mixed separators."""

import random

SEPARATORS = [" ", " ", ", ", "-", "'", "\n", ". ", "7", " 42 "]


def _word(rng: random.Random) -> str:
    letters = "abcxyABC"
    half = "".join(rng.choice(letters) for _ in range(rng.randint(1, 4)))
    kind = rng.randrange(6)
    if kind == 0:
        return half + half
    if kind == 1:
        return half + rng.choice(letters) + half.swapcase()
    if kind == 2:
        return half + half[::-1]
    if kind == 3:
        return half + rng.choice(letters) + half[::-1]
    if kind == 4:
        return rng.choice(letters)
    return half


def generate(rng: random.Random) -> dict:
    text = ""
    for _ in range(rng.choice([0, 2, 4, 6, 8, 12, 15])):
        text += _word(rng) + rng.choice(SEPARATORS)
    return {"args": [text]}
