"""Random quadratic tile patterns, shown from figure 0, 1 or later; some grow in a straight line."""
import random


def row(start: int, first: int, step: int, bend: int, maker: str = "Ana") -> dict[str, str]:
    """One problem: figure `start` has `first` tiles, then +step, +(step + bend), ..."""
    tiles = [first, first + step, first + 2 * step + bend]
    a, b, c = (f"figure {start + k} has {tiles[k]} tiles" for k in range(3))
    prompt = (
        f"{maker} lays figures of tiles that follow a rule: {a}, {b} and {c}. From figure to "
        "figure the number of added tiles always changes by the same amount. Give the number of "
        "tiles in figure $n$ as a polynomial in $n$ (any equivalent form is fine), and put the "
        r"final answer in \boxed{}."
    )
    # twice the coefficients are integers
    a2 = bend
    b2 = 2 * step - a2 * (2 * start + 1)
    c2 = 2 * first - a2 * start**2 - b2 * start
    return {"prompt": prompt, "answer": rf"\frac{{{a2}n^2 + ({b2})n + ({c2})}}{{2}}"}


def generate(rng: random.Random) -> dict[str, str]:
    maker = rng.choice(["Ana", "Bo", "Carla", "Dev", "Eszter"])
    bend = rng.choice([0, 1, 2, 2, 3, 4, 5, 6, -1, -2])
    step = rng.randint(max(0, -bend), 12)
    return row(rng.choice([0, 1, 1, 2, 3, 5]), rng.randint(1, 30), step, bend, maker)
