"""Random card decks: calculations, branches, counting loops near the limit, powers and noise."""
import random


def calculation(rng: random.Random) -> list[str]:
    cards: list[str] = []
    depth = 0
    for _ in range(rng.randint(3, 30)):
        if depth < 2 or rng.random() < 0.4:
            cards.append(f"put {rng.randint(-20, 20)}")
            depth += 1
        else:
            card = rng.choice(["add", "sub", "sub", "mul", "div", "div", "copy", "swap", "say"])
            cards.append(card)
            depth += {"copy": 1, "swap": 0}.get(card, -1)
    return [*cards, "say"]


def quotients(rng: random.Random) -> list[str]:
    cards: list[str] = []
    for _ in range(rng.randint(1, 6)):
        divisor = rng.choice([-7, -3, -2, 2, 4, 9, 0])
        cards += [f"put {rng.randint(-99, 99)}", f"put {divisor}", "div"]
        cards.append(rng.choice(["say", "copy"]))
    return [*cards, "say"]


def branches(rng: random.Random) -> list[str]:
    cards = [f"put {rng.randint(1, 99)}", f"put {rng.randint(-99, 0)}"]
    for _ in range(rng.randint(1, 5)):
        cards += [f"put {rng.choice([0, 0, 1, -4])}", f"zero {len(cards) + rng.randint(4, 5)}"]
        cards += [f"put {rng.randint(-9, 9)}", rng.choice(["add", "say", "swap"]), "copy"]
    return [*cards, "say", "say"]


def countdown(rng: random.Random) -> list[str]:
    rounds = rng.choice([1, 3, 10, 120, 199, 199, 199])
    prints = rng.randint(0, 3)
    below = rng.randint(0, 3)
    if rounds == 199:  # the loop takes 5 * 199 cards; aim at the limit of 1000
        below = rng.choice([999, 1000, 1001]) - 995 - prints
    body = ["copy", "say"] if rounds <= 10 else []
    cards = [f"put {rng.randint(-9, 9)}"] * below
    start = len(cards) + 2
    cards += [f"put {rounds}", *body, "put 1", "sub", "copy"]
    return [*cards, f"zero {len(cards) + 3}", f"hop {start}", *["say"] * prints]


def powers(rng: random.Random) -> list[str]:
    cards = [f"put {rng.randint(-9, 9)}"]
    for _ in range(rng.randint(1, 6)):
        cards += ["copy", "mul"] if rng.random() < 0.7 else ["copy", "say"]
    return [*cards, "say"]


def noise(rng: random.Random) -> list[str]:
    count = rng.randint(1, 25)
    cards: list[str] = []
    for _ in range(count):
        name = rng.choice(
            ["put", "put", "put", "add", "sub", "mul", "div", "copy", "swap", "drop", "say", "hop",
             "zero"]
        )
        if name == "put":
            name += f" {rng.choice([0, 0, 1, 2, rng.randint(-1000, 1000)])}"
        elif name in ("hop", "zero"):
            name += f" {rng.randint(1, count + 1)}"
        cards.append(name)
    return cards


def generate(rng: random.Random) -> dict[str, str]:
    kinds = [calculation, calculation, quotients, branches, countdown, countdown, powers, noise]
    cards = rng.choice(kinds)(rng)
    return {"stdin": "\n".join([str(len(cards)), *cards]) + "\n"}
