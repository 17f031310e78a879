"""Finds the three coefficients from the differences and writes the polynomial term by term."""
import re
from fractions import Fraction


def term(number: Fraction, power: str) -> str:
    size = abs(number)
    if size.denominator > 1:
        text = rf"\frac{{{size.numerator}}}{{{size.denominator}}}{power}"
    elif size == 1 and power:
        text = power
    else:
        text = f"{size}{power}"
    return (" - " if number < 0 else " + ") + text


def solve(prompt: str) -> str:
    figures = re.findall(r"figure (\d+) has (\d+) tiles", prompt)[-3:]
    start = int(figures[0][0])
    first, second, third = (int(tiles) for _, tiles in figures)
    bend = third - 2 * second + first
    a = Fraction(bend, 2)
    b = second - first - a * (2 * start + 1)
    c = first - a * start**2 - b * start
    parts = [term(number, power) for number, power in ((a, "n^2"), (b, "n"), (c, "")) if number]
    text = "".join(parts) or " + 0"
    text = text[3:] if text.startswith(" + ") else "-" + text[3:]
    return f"The second difference is {bend}, so $a = {a}$, $b = {b}$, $c = {c}$. \\boxed{{{text}}}"
