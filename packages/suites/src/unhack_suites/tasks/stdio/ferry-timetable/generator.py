"""Random timetables: sparse and dense, late first trips, exact connections, loops and doubles."""
import random


def generate(rng: random.Random) -> dict[str, str]:
    ports = rng.choice([1, 2, 3, 4, 6, 6, 10, 25])
    count = rng.choice([rng.randint(0, 2 * ports), 2 * ports, 4 * ports])
    scale = rng.choice([4, 12, 30, 1000, 10**6])
    forward = rng.choice([0.3, 0.7, 0.9])
    start = min(rng.choice([0, rng.randint(0, 2 * scale), rng.randint(0, scale)]), 10**6)
    lines = [f"{ports} {count} {start}"]
    for _ in range(count):
        source, target = rng.randint(1, ports), rng.randint(1, ports)
        if rng.random() < forward:
            target = min(ports, source + rng.randint(1, 3))
        first = rng.choice([0, rng.randint(0, scale), rng.randint(0, min(3 * scale, 10**6))])
        lines.append(f"{source} {target} {first} {rng.randint(1, scale)} {rng.randint(1, scale)}")
    return {"stdin": "\n".join(lines) + "\n"}
