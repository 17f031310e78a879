"""Random firing curves: single notes, rising, falling and mixed ones, even and uneven gaps."""
import random


def generate(rng: random.Random) -> dict[str, str]:
    count = rng.choice([1, 2, 2, 3, 5, 8, 20, 50])
    longest = rng.choice([1, 10, 400])
    shape = rng.choice(["mixed", "mixed", "rising", "falling"])
    minute = rng.choice([0, rng.randint(0, 3000)])
    tenths = [rng.randint(-500, 14000) for _ in range(count)]
    if shape != "mixed":
        tenths.sort(reverse=shape == "falling")
    lines = [str(count)]
    for value in tenths:
        lines.append(f"{minute} {value / 10:.1f}")
        minute += rng.randint(1, longest)
    return {"stdin": "\n".join(lines) + "\n"}
