"""Random expressions; divisors are nonzero by construction, so every case has a value."""

import random


def _quotient(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def _number(rng: random.Random) -> int:
    return rng.choice([0, 1, 2, rng.randint(3, 9), rng.randint(3, 99), rng.randint(10**16, 10**18)])


def _tree(rng: random.Random, depth: int) -> tuple[str, int, int]:
    """Text, value and strength (1 to 5) of a random expression."""
    kind = rng.random()
    if depth == 0 or kind < 0.15:
        number = _number(rng)
        return str(number), number, 5
    if kind < 0.27:
        text, value, strength = _tree(rng, depth - 1)
        return "-" + (text if strength >= 4 else f"({text})"), -value, 4
    operator, strength = rng.choice(["<1", ">1", "+2", "-2", "-2", "*3", "/3", "/3"])
    level = int(strength)
    left, a, left_strength = _tree(rng, depth - 1)
    right, b, right_strength = _tree(rng, depth - 1)
    if operator == "/" and b == 0:
        operator = "*"
    if left_strength < level or rng.random() < 0.1:
        left = f"({left})"
    if right_strength <= level or rng.random() < 0.1:
        right = f"({right})"
    values = {"<": min(a, b), ">": max(a, b), "+": a + b, "-": a - b, "*": a * b}
    value = _quotient(a, b) if operator == "/" else values[operator]
    gap = " " * rng.choice([0, 0, 1, 2])
    return f"{left}{gap}{operator}{gap}{right}", value, level


def generate(rng: random.Random) -> dict[str, object]:
    while True:
        text = _tree(rng, rng.choice([0, 1, 2, 3, 4]))[0]
        if len(text) <= 250:
            pad = rng.choice(["", "", " "])
            return {"args": [pad + text + pad]}
