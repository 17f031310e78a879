"""Random clubs: two rowers to thirty-six, close, spread and lopsided strengths."""
import random


def generate(rng: random.Random) -> dict[str, str]:
    size = rng.choice([2, 4, 4, 6, 6, 8, 8, 10, 12, 24, 36])
    style = rng.choice(["free", "free", "few values", "lopsided", "even"])
    if style == "free":
        strength = [rng.randint(1, 100) for _ in range(size)]
    elif style == "few values":
        values = [rng.randint(1, 100) for _ in range(3)]
        strength = [rng.choice(values) for _ in range(size)]
    elif style == "lopsided":
        strength = [rng.randint(1, 6) for _ in range(size)]
        for _ in range(max(1, size // 6)):
            strength[rng.randrange(size)] = rng.randint(40, 100)
    else:
        strength = [2 * rng.randint(1, 50) for _ in range(size)]
    return {"stdin": f"{size}\n{' '.join(map(str, strength))}\n"}
