"""Flaw: uses the whole second difference as the coefficient of n^2."""
import re


def solve(prompt: str) -> str:
    figures = re.findall(r"figure (\d+) has (\d+) tiles", prompt)[-3:]
    start = int(figures[0][0])
    first, second, third = (int(tiles) for _, tiles in figures)
    a = third - 2 * second + first
    b = second - first - a * (2 * start + 1)
    c = first - a * start**2 - b * start
    return f"Second difference {a}: \\boxed{{{a}n^2 + ({b})n + ({c})}}"
