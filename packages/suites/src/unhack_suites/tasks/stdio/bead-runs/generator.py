"""Random necklaces: few or many colours, one colour only, long runs across the closing place."""
import random


def generate(rng: random.Random) -> dict[str, str]:
    lines: list[str] = []
    for _ in range(rng.choice([1, 2, 4, 8])):
        letters = rng.sample("abcdefghijklmnopqrstuvwxyz", rng.choice([1, 2, 2, 3, 6]))
        beads = ""
        for _ in range(rng.choice([1, 2, 4, 8, 20])):
            beads += rng.choice(letters) * rng.choice([1, 1, 1, 2, 3, rng.randint(1, 9)])
        lines.append(beads)
    return {"stdin": "\n".join([str(len(lines)), *lines]) + "\n"}
