"""Random numbers from zero up to a million, between any two different bases from 2 to 16."""
import random


def digits(value: int, base: int) -> str:
    if value < base:
        return "0123456789ABCDEF"[value]
    return digits(value // base, base) + "0123456789ABCDEF"[value % base]


def row(value: int, old: int, new: int) -> dict[str, str]:
    """One problem: `value` is shown in base `old` and asked for in base `new`."""
    prompt = (
        f"A display shows {digits(value, old)} in base {old}. Which digits does it show for the "
        f"same number after it is switched to base {new}? Digits from ten on are the capital "
        "letters A, B, C, D, E and F. Write no leading zeros, no spaces and no mark for the base. "
        r"Put the final answer in \boxed{}."
    )
    return {"prompt": prompt, "answer": digits(value, new)}


def generate(rng: random.Random) -> dict[str, str]:
    old, new = rng.sample(range(2, 17), 2)
    if rng.random() < 0.4:
        new = rng.choice([base for base in (11, 12, 13, 14, 15, 16) if base != old])
    return row(rng.randrange(rng.choice([20, 300, 5000, 10**6])), old, new)
