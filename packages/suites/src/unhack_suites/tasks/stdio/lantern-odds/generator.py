"""Random rows: certain and dead lanterns, equal chances, all lengths of run from 1 to n."""
import random


def generate(rng: random.Random) -> dict[str, str]:
    count = rng.choice([1, 2, 3, 4, 6, 10, 25, 60])
    need = rng.choice([1, count, rng.randint(1, count), rng.randint(1, min(count, 4))])
    style = rng.choice(["free", "free", "equal", "sharp"])
    if style == "equal":
        chances = [rng.choice(["0.5", "0.9", "0.25"])] * count
    elif style == "sharp":
        chances = [rng.choice(["0", "1", "1.0", "0.5", "0.75"]) for _ in range(count)]
    else:
        chances = [f"{rng.randint(200, 1000) / 1000:g}" for _ in range(count)]
    return {"stdin": f"{count} {need}\n{' '.join(chances)}\n"}
