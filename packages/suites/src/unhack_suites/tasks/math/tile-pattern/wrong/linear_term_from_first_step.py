"""Flaw: takes the first step itself as the coefficient of n and fits only the first figure."""
import re
from fractions import Fraction


def solve(prompt: str) -> str:
    figures = re.findall(r"figure (\d+) has (\d+) tiles", prompt)[-3:]
    start = int(figures[0][0])
    first, second, third = (int(tiles) for _, tiles in figures)
    a = Fraction(third - 2 * second + first, 2)
    b = second - first
    c = first - a * start**2 - b * start
    return f"$a = {a}$, $b = {b}$: \\boxed{{({a})n^2 + ({b})n + ({c})}}"
