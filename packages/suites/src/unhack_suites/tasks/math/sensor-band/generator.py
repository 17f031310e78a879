"""Random linear readings with both signs of slope and all four kinds of condition."""
import random
from fractions import Fraction


def row(slope: int, offset: int, target: int, words: str, width: int) -> dict[str, str]:
    """One problem: |slope * t + offset - target| compared with width (slope != 0, width > 0)."""
    lead = {1: "t", -1: "-t"}.get(slope, f"{slope}t")
    tail = f" {'-' if offset < 0 else '+'} {abs(offset)}" if offset else ""
    prompt = (
        f"At temperature $t$ a sensor shows the value ${lead}{tail}$. A pump runs at exactly those "
        f"real temperatures $t$ at which the value shown differs from ${target}$ by {words} "
        f"${width}$. Find the set of all these temperatures. Write it as an interval or as a union "
        r"of intervals, and put the final answer in \boxed{}."
    )
    ends = [Fraction(target + sign * width - offset, slope) for sign in (-1, 1)]
    low, high = min(ends), max(ends)
    answer = {
        "at most": f"[{low}, {high}]",
        "less than": f"({low}, {high})",
        "at least": rf"(-\infty, {low}] \cup [{high}, \infty)",
        "more than": rf"(-\infty, {low}) \cup ({high}, \infty)",
    }[words]
    return {"prompt": prompt, "answer": answer}


def generate(rng: random.Random) -> dict[str, str]:
    slope = rng.choice([-5, -4, -3, -2, -1, 1, 2, 3, 4, 6, 7])
    words = rng.choice(["at most", "less than", "at least", "more than"])
    target = rng.choice([0, rng.randint(-12, 12), rng.randint(-12, 12)])
    return row(slope, rng.choice([0, rng.randint(-9, 9)]), target, words, rng.randint(1, 15))
