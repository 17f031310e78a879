"""Random files of 0 to 20 lines; lines that would conflict are left out as the file grows."""

import random

KEYS = ("a", "b", "ui", "drop", "font-2", "7")
VALUES = (
    "on", "off", "On", "12", "-3", "007", "-", "", "+5", "1_0", "a=b", "x += 1", "3.5", "red hat",
    "; no", "--1",
)


def _fits(root: dict, keys: list[str], append: bool) -> bool:
    """Whether the change raises no conflict; if so it is noted in `root`."""
    section = root
    for key in keys[:-1]:
        section = section.get(key, {})
        if not isinstance(section, dict):
            return False
    old = section.get(keys[-1])
    if isinstance(old, dict) or (append and old == "value"):
        return False
    section = root
    for key in keys[:-1]:
        section = section.setdefault(key, {})
    section[keys[-1]] = "list" if append else "value"
    return True


def _forget(root: dict, keys: list[str]) -> None:
    section: object = root
    for key in keys[:-1]:
        section = section.get(key) if isinstance(section, dict) else None
    if isinstance(section, dict):
        section.pop(keys[-1], None)


def generate(rng: random.Random) -> dict[str, object]:
    root: dict = {}
    lines: list[str] = []
    for _ in range(rng.choice([0, 1, rng.randint(2, 6), rng.randint(7, 20)])):
        keys = [rng.choice(KEYS) for _ in range(rng.choice([1, 1, 2, 2, 3]))]
        path = ".".join(keys)
        gap, pad = rng.choice(["", " ", "  "]), rng.choice(["", "", "  "])
        kind = rng.random()
        if kind < 0.1:
            lines.append(rng.choice(["", "   ", "; a = 1", "  ;"]))
        elif kind < 0.25:
            lines.append(f"{pad}drop {gap}{path}{pad}")
            _forget(root, keys)
        else:
            append = kind > 0.65
            if _fits(root, keys, append):
                sign = "+=" if append else "="
                lines.append(f"{pad}{path}{gap}{sign}{gap}{rng.choice(VALUES)}{pad}")
    return {"args": [lines]}
