"""Random pairs of shifts: coarse and fine times, past midnight, touching, around the clock."""
import random


def clock(minute: int) -> str:
    return f"{minute // 60:02d}:{minute % 60:02d}"


def generate(rng: random.Random) -> dict[str, str]:
    lines: list[str] = []
    for _ in range(rng.choice([1, 1, 2, 5, 12])):
        grid = rng.choice([1, 15, 60, 360])
        ends = [rng.randrange(0, 1440, grid) for _ in range(4)]
        if rng.random() < 0.2:
            ends[1] = ends[0]
        if rng.random() < 0.2:
            ends[2] = ends[1]
        a, b, c, d = map(clock, ends)
        lines.append(f"{a}-{b} {c}-{d}")
    return {"stdin": "\n".join([str(len(lines)), *lines]) + "\n"}
