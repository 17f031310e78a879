"""Flaw: takes the first figure shown as figure 1, whatever its number is."""
import re
from fractions import Fraction


def solve(prompt: str) -> str:
    figures = re.findall(r"figure (\d+) has (\d+) tiles", prompt)[-3:]
    first, second, third = (int(tiles) for _, tiles in figures)
    a = Fraction(third - 2 * second + first, 2)
    b = second - first - 3 * a
    c = first - a - b
    return f"With $f(1) = {first}$ we get \\boxed{{({a})n^2 + ({b})n + ({c})}}"
