"""Random marks, in-order manifests with marks deleted, and two interleaved manifests."""

import random

PAIRS = ["()", "[]", "{}"]


def _in_order(rng: random.Random, pairs: int) -> str:
    if pairs == 0:
        return ""
    inner = rng.randint(0, pairs - 1)
    kind = rng.choice(PAIRS)
    return kind[0] + _in_order(rng, inner) + kind[1] + _in_order(rng, pairs - 1 - inner)


def generate(rng: random.Random) -> dict:
    kind = rng.random()
    if kind < 0.3:
        sources = [_in_order(rng, rng.randint(1, 5)), _in_order(rng, rng.randint(1, 5))]
        text = ""
        while any(sources):
            pick = rng.choice([i for i, source in enumerate(sources) if source])
            text += sources[pick][0]
            sources[pick] = sources[pick][1:]
    elif kind < 0.65:
        kinds = rng.choice(["()[]", "()[]{}"])
        text = "".join(rng.choice(kinds) for _ in range(rng.choice([0, 2, 4, 7, 9, 12, 16, 20])))
    else:
        text = _in_order(rng, rng.randint(2, 10))
        for _ in range(rng.randint(0, 6)):
            if text:
                cut = rng.randrange(len(text))
                text = text[:cut] + text[cut + 1 :]
    return {"args": [text]}
