"""Random crates: cubes, flat and tall ones, and some whose shortest walk is a whole number."""
import random

WHOLE = [(1, 2, 4), (1, 4, 12), (3, 5, 15), (2, 3, 12), (4, 5, 12), (7, 8, 8), (3, 6, 12)]


def row(wide: int, deep: int, high: int) -> dict[str, str]:
    """One problem; the answer is left as a bare root."""
    prompt = (
        f"A closed crate is {wide} cm wide, {deep} cm deep and {high} cm high. An ant walks on the "
        "outside of the crate from one corner to the opposite corner, the one that lies on no "
        "common face with it; it may use every face. How long is its shortest walk, in "
        r"centimetres? Give the exact length, and put the final answer in \boxed{}."
    )
    best = wide**2 + deep**2 + high**2 + 2 * min(wide * deep, wide * high, deep * high)
    return {"prompt": prompt, "answer": rf"\sqrt{{{best}}}"}


def generate(rng: random.Random) -> dict[str, str]:
    style = rng.choice(["free", "free", "free", "two equal", "cube", "whole"])
    if style == "free":
        edges = [rng.randint(1, 15) for _ in range(3)]
    elif style == "two equal":
        edges = [rng.randint(1, 12)] * 2 + [rng.randint(1, 12)]
    elif style == "cube":
        edges = [rng.randint(1, 12)] * 3
    else:
        scale = rng.randint(1, 3)
        edges = [scale * edge for edge in rng.choice(WHOLE)]
    rng.shuffle(edges)
    return row(edges[0], edges[1], edges[2])
