"""Random patterns with codes built to fit them, plus damaged and unrelated codes."""

import random

LITERALS = "AbX57-.*+[^\\ "


def _fitting(rng: random.Random, pattern: str) -> str:
    code = ""
    for symbol in pattern:
        if symbol == "#":
            code += "".join(rng.choice("0123457") for _ in range(rng.randint(1, 3)))
        elif symbol == "@":
            code += rng.choice("ABXabz")
        elif symbol == "?":
            code += rng.choice("A7-.#")
        elif symbol == "%":
            code += "".join(rng.choice("Ab75. @") for _ in range(rng.randint(0, 4)))
        else:
            code += symbol
    return code


def _damaged(rng: random.Random, code: str) -> str:
    at = rng.randint(0, len(code))
    kind = rng.randrange(3)
    if kind == 0:
        return code[:at] + rng.choice("A7-.x") + code[at:]
    if kind == 1:
        return code[:at] + code[at + 1 :]
    return code[:at] + rng.choice("B5-* ") + code[at + 1 :]


def generate(rng: random.Random) -> dict[str, object]:
    pattern = ""
    for _ in range(rng.choice([0, 1, 2, rng.randint(3, 6), rng.randint(6, 10)])):
        symbol = rng.choice(LITERALS) if rng.random() < 0.45 else rng.choice("##@?%%")
        if symbol in "#%" and pattern.count("#") + pattern.count("%") == 5:
            symbol = "?"
        pattern += symbol
    codes: list[str] = []
    for _ in range(rng.randint(0, 10)):
        code = _fitting(rng, pattern)
        if rng.random() < 0.45:
            code = _damaged(rng, code)
        codes.append(code[:40])
    if codes and rng.random() < 0.3:
        codes.append(rng.choice(codes))
    return {"args": [pattern, codes]}
