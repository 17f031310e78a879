"""Random texts over small alphabets, half of them grown by echoes."""

import random


def generate(rng: random.Random) -> dict:
    letters = rng.choice(["a", "ab", "abc", "abcdef"])
    text = ""
    goal = rng.choice([0, 2, 5, 9, 14, 20, 30, 45, 60])
    echo_share = rng.choice([0.0, 0.3, 0.5])
    while len(text) < goal:
        if text and rng.random() < echo_share:
            text += text[-rng.randint(1, min(len(text), 12)) :]
        else:
            text += rng.choice(letters)
    return {"args": [text[:60]]}
