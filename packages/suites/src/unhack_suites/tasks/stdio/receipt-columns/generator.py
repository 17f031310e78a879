"""Random receipts: short and long names, refunds, empty receipts, totals of every width."""
import random

NAMES = [
    "cup", "mug", "jug", "lamp", "clock", "teapot", "basket", "armchair", "lampshade",
    "picture-frame", "bird-house", "tin", "globe", "typewriter", "o", "coffee-grinder",
]


def generate(rng: random.Random) -> dict[str, str]:
    count = rng.choice([0, 1, 1, 2, 3, 5, 12])
    limit = rng.choice([99, 1500, 9999])
    lines = [str(count)]
    for _ in range(count):
        unit = rng.randint(0, limit)
        if rng.random() < 0.25:
            unit = -unit
        lines.append(f"{rng.choice(NAMES)} {rng.choice([1, 1, 2, 7, rng.randint(1, 99)])} {unit}")
    return {"stdin": "\n".join(lines) + "\n"}
