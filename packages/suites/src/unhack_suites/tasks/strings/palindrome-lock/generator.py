"""Texts built together with a pattern that reads them, sometimes with one character changed."""

import random

LETTERS = "aaab"


def generate(rng: random.Random) -> dict:
    pattern = ""
    text = ""
    for _ in range(rng.choice([rng.randint(0, 2), 3, 4, 5, 6, 8, 10, 12, 12])):
        symbol = rng.choice("~~~~~~~~~..=" + LETTERS)
        if symbol == "~":
            half = "".join(rng.choice(LETTERS) for _ in range(rng.randint(0, 2)))
            piece = half + rng.choice(["", "a", "b"]) + half[::-1]
        elif symbol == "=":
            piece = text[-1:]
        elif symbol == ".":
            piece = rng.choice(LETTERS)
        else:
            piece = symbol
        if len(text) + len(piece) > 30:
            break
        pattern += symbol
        text += piece
    if text and rng.random() < 0.15:
        spot = rng.randrange(len(text))
        text = text[:spot] + rng.choice("abc") + text[spot + 1 :]
    return {"args": [pattern, text]}
