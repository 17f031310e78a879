"""Random templates from fragments that meet every rule, with values that look like blanks."""

import random

FRAGMENTS = (
    "<name>", "<town>", "<x_1>", "<9>", "<<", "<", ">", "<Name>", "< name>", "<>", "<<<name>",
    "<a-b>", "<name", "Dear ", ", ", "\n", "[town?]", "\\1", "\\n", "{}", "<name><town>", "é", "a",
)
VALUES = ("Ida", "", "<town>", "<<", "<", "name>", "\\1", "Ås", "[x]", "<name>")


def generate(rng: random.Random) -> dict[str, object]:
    count = rng.choice([0, 1, rng.randint(2, 6), rng.randint(7, 25)])
    template = "".join(rng.choice(FRAGMENTS) for _ in range(count))
    keys = [key for key in ("name", "town", "x_1", "9", "Name", "", "a-b") if rng.random() < 0.5]
    return {"args": [template, {key: rng.choice(VALUES) for key in keys}]}
