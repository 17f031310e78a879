"""Random bags of red, blue and white marbles; two or three are drawn; four kinds of event."""
import random
from itertools import combinations

EVENTS = ["exactly one of them is", "none of them is", "at least one of them is", "same"]


def row(
    red: int, blue: int, white: int, drawn: int, event: str, colour: str, name: str = "Ines"
) -> dict[str, str]:
    """One problem; the answer comes from listing every selection."""
    words = "all of them have the same colour" if event == "same" else f"{event} {colour}"
    prompt = (
        f"A bag holds {red} red, {blue} blue and {white} white marbles. {name} takes {drawn} "
        f"marbles out at once, without looking. What is the probability that {words}? Any exact "
        r"form of the number is fine, for example a fraction. Put the final answer in \boxed{}."
    )
    bag = ["red"] * red + ["blue"] * blue + ["white"] * white
    good = every = 0
    for picked in combinations(bag, drawn):
        hits = picked.count(colour)
        every += 1
        good += {
            "exactly one of them is": hits == 1,
            "none of them is": hits == 0,
            "at least one of them is": hits >= 1,
            "same": len(set(picked)) == 1,
        }[event]
    return {"prompt": prompt, "answer": rf"\frac{{{good}}}{{{every}}}"}


def generate(rng: random.Random) -> dict[str, str]:
    counts = [rng.randint(1, 7) for _ in range(3)]
    drawn = rng.choice([2, 2, 3])
    colour = rng.choice(["red", "blue", "white"])
    name = rng.choice(["Ines", "Jon", "Kaya", "Luis", "Mei"])
    return row(counts[0], counts[1], counts[2], drawn, rng.choice(EVENTS), colour, name)
