"""Random valid texts: any selection of units, large first parts, limits of later ones."""

import random

LIMITS = {"d": 0, "h": 24, "m": 60, "s": 60}


def generate(rng: random.Random) -> dict[str, object]:
    units = [unit for unit in "dhms" if rng.random() < 0.6] or [rng.choice("dhms")]
    text = ""
    for unit in units:
        if text == "":
            number = rng.choice([0, rng.randint(1, 23), rng.randint(24, 500), 10**9])
        else:
            limit = LIMITS[unit]
            number = rng.choice([0, limit - 1, rng.randrange(limit)])
        text += f"{number}{unit}"
    return {"args": [text]}
