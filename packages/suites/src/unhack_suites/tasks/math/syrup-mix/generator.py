"""Random mixtures with and without water; values that would round in two ways are drawn again."""
import random


def row(v1: int, p1: int, v2: int, p2: int, water: int, name: str = "Noa") -> dict[str, str]:
    """One problem: v1 ml of p1 %, v2 ml of p2 % and water ml of water (0: none is mentioned)."""
    first, second = f"{v1} ml of a {p1}% syrup", f"{v2} ml of a {p2}% syrup"
    parts = f"{first}, {second} and {water} ml of water" if water else f"{first} and {second}"
    prompt = (
        f"{name} pours together {parts}. What is the strength of the mixture in percent, rounded "
        r"to two decimals? Put the final answer, without a percent sign, in \boxed{}."
    )
    volume = v1 + v2 + water
    hundredths = (200 * (v1 * p1 + v2 * p2) + volume) // (2 * volume)
    return {"prompt": prompt, "answer": f"{hundredths / 100:.2f}"}


def generate(rng: random.Random) -> dict[str, str]:
    name = rng.choice(["Noa", "Oskar", "Pilar", "Quinn", "Rosa"])
    while True:
        v1, v2 = (rng.choice([50, 100, 200, 250, rng.randint(20, 900)]) for _ in range(2))
        p1, p2 = rng.randint(2, 60), rng.randint(2, 60)
        water = rng.choice([0, 0, 100, rng.randint(10, 500)])
        if 200 * (v1 * p1 + v2 * p2) % (2 * (v1 + v2 + water)) != v1 + v2 + water:
            return row(v1, p1, v2, p2, water, name)
