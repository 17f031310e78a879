"""Random nested patterns over two or three colours with zero, small and huge counts."""

import random


def _count(rng: random.Random) -> str:
    return rng.choice(["", "", "", "", "0", "1", "2", "2", "3", "12", "1000000000"])


def _sequence(rng: random.Random, depth: int, colours: str) -> str:
    text = ""
    for _ in range(rng.choice([0, 1, 1, 2, 2, 3, 4])):
        if depth and rng.random() < 0.5:
            text += f"({_sequence(rng, depth - 1, colours)})" + _count(rng)
        else:
            text += rng.choice(colours) + _count(rng)
    return text


def generate(rng: random.Random) -> dict[str, object]:
    colours = rng.choice(["a", "ab", "ab", "aab", "abz"])
    while True:
        text = _sequence(rng, rng.choice([0, 1, 2, 3, 5]), colours)
        if len(text) <= 120 and (text or rng.random() < 0.1):
            return {"args": [text]}
