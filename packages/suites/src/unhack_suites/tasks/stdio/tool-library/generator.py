"""Random logs: mostly sensible, with mistaken returns and the odd empty or returned-all log."""
import random

MEMBERS = ["ada", "bruno", "cleo", "dina", "emil", "mara", "nils", "olek", "zoe"]
TOOLS = ["saw", "drill", "rake", "level", "ladder"]


def generate(rng: random.Random) -> dict[str, str]:
    members = rng.sample(MEMBERS, rng.randint(1, 6))
    tools = rng.sample(TOOLS, rng.randint(1, 4))
    lines: list[str] = []
    held: list[tuple[str, str]] = []
    for _ in range(rng.choice([0, 1, 2, 5, 9, 15, 40])):
        roll = rng.random()
        if held and roll < 0.35:
            member, tool = held.pop(rng.randrange(len(held)))
            lines.append(f"{member} in {tool}")
        elif roll < 0.5:
            lines.append(f"{rng.choice(members)} in {rng.choice(tools)}")
        else:
            pair = (rng.choice(members), rng.choice(tools))
            held.append(pair)
            lines.append(f"{pair[0]} out {pair[1]}")
    if rng.random() < 0.15:
        lines.extend(f"{member} in {tool}" for member, tool in held)
    return {"stdin": "\n".join([str(len(lines)), *lines]) + "\n"}
