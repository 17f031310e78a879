"""Random parabolas and lines that meet: rational, surd and touching cases."""
import random
from fractions import Fraction


def polynomial(*terms: tuple[int, str]) -> str:
    text = ""
    for number, power in terms:
        if number == 0:
            continue
        size = "" if abs(number) == 1 and power else str(abs(number))
        sign = "-" if number < 0 else "+"
        text += f" {sign} {size}{power}" if text else f"{sign.strip('+')}{size}{power}"
    return text or "0"


def row(a: int, b: int, c: int, slope: int, height: int) -> dict[str, str]:
    """One problem: y = ax^2 + bx + c meets y = slope * x + height (they must meet)."""
    prompt = (
        f"The parabola $y = {polynomial((a, 'x^2'), (b, 'x'), (c, ''))}$ and the line "
        f"$y = {polynomial((slope, 'x'), (height, ''))}$ are drawn in one coordinate system. Find "
        "the $x$-coordinates of all points where they meet. Give the exact values as a set in "
        r"braces, and put the final answer in \boxed{}."
    )
    middle = slope - b
    d = middle**2 - 4 * a * (c - height)
    if d == 0:
        return {"prompt": prompt, "answer": rf"\left\{{{Fraction(middle, 2 * a)}\right\}}"}
    one, two = (rf"\frac{{{middle}{sign}\sqrt{{{d}}}}}{{{2 * a}}}" for sign in "-+")
    return {"prompt": prompt, "answer": rf"\left\{{{one}, {two}\right\}}"}


def generate(rng: random.Random) -> dict[str, str]:
    a = rng.choice([-3, -2, -1, 1, 1, 2, 3, 4])
    slope, height = rng.choice([0, rng.randint(-5, 5)]), rng.randint(-6, 6)
    style = rng.choice(["surd", "surd", "rational", "touching"])
    if style == "surd":
        middle, rest = rng.randint(-6, 6), rng.randint(-8, 8)
        if middle * middle - 4 * a * rest <= 0:
            rest = -rest if middle * middle + 4 * a * rest > 0 else 0
            middle = middle or 2
    elif style == "rational":  # a * (x - p) * (x - q)
        p, q = rng.randint(-6, 6), rng.randint(-6, 6)
        middle, rest = -a * (p + q), a * p * q
    else:  # sign * (u * x - v)^2
        u, v, sign = rng.randint(1, 3), rng.randint(-5, 5), rng.choice([-1, 1])
        a, middle, rest = sign * u * u, -2 * sign * u * v, sign * v * v
    return row(a, middle + slope, rest + height, slope, height)
