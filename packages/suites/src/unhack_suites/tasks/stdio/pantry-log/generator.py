"""Random logs: short and long shelf lives, many ties of the last day, scarce and rich pantries."""
import random


def generate(rng: random.Random) -> dict[str, str]:
    life = rng.choice([0, 2, 5, 30])
    gap = rng.choice([0, 1, 3])
    size = rng.choice([1, 5, 60, 1000])
    adds = rng.choice([0.4, 0.5, 0.7])
    day = rng.choice([1, rng.randint(1, 2000)])
    lines: list[str] = []
    for _ in range(rng.choice([1, 2, 4, 8, 15, 40])):
        day += rng.randint(0, gap)
        count = rng.randint(1, size)
        if rng.random() < adds:
            lines.append(f"add {day} {count} {day + rng.randint(0, life)}")
        else:
            lines.append(f"use {day} {count}")
    return {"stdin": "\n".join([str(len(lines)), *lines]) + "\n"}
