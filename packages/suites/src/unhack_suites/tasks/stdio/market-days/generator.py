"""Random quarrels: lopsided groups under shuffled numbers, some with one pair too many."""
import random


def generate(rng: random.Random) -> dict[str, str]:
    count = rng.choice([1, 2, 3, 5, 8, 8, 12, 12, 30, 60])
    names = rng.sample(range(1, count + 1), count)
    pairs: list[tuple[int, int]] = []
    first = 0
    while first < count:
        group = names[first : first + rng.choice([1, 2, 3, 5, 8, 15])]
        first += len(group)
        lean = rng.choice([0.15, 0.5, 0.85])
        day = {group[0]: True}
        for stall in group[1:]:
            warm = rng.random() < lean
            others = [other for other in day if day[other] != warm]
            if not others:
                warm = not warm
                others = list(day)
            day[stall] = warm
            pairs.append((stall, rng.choice(others)))
        for _ in range(rng.choice([0, 0, 1, len(group) // 2])):
            a, b = rng.choice(group), rng.choice(group)
            if day[a] != day[b]:
                pairs.append((a, b))
    if count > 2 and rng.random() < 0.3:
        a, b = rng.sample(names, 2)
        pairs.append((a, b))
    rng.shuffle(pairs)
    lines = [f"{count} {len(pairs)}", *(f"{a} {b}" for a, b in pairs)]
    return {"stdin": "\n".join(lines) + "\n"}
