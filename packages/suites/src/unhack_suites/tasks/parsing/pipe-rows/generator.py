"""Random rows of 0 to 40 fragments with plenty of tildes, bars and spaces."""

import random

FRAGMENTS = (
    "|", "|", "|", " ", " ", "  ", "~|", "~~", "~n", "~ ", "~", "~q", "~~|", "n", "a", "red",
    "4 5", "\t", "x y", "é", "~~n",
)


def generate(rng: random.Random) -> dict[str, object]:
    count = rng.choice([0, 1, 2, rng.randint(3, 8), rng.randint(9, 40)])
    return {"args": ["".join(rng.choice(FRAGMENTS) for _ in range(count))]}
