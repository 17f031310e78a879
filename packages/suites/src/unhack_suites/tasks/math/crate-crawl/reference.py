"""Compares the three unfoldings and pulls the largest square out of the root."""
import re
from math import isqrt


def solve(prompt: str) -> str:
    edges = re.findall(r"is (\d+) cm wide, (\d+) cm deep and (\d+) cm high", prompt)[-1]
    a, b, c = map(int, edges)
    squares = [(a + b) ** 2 + c * c, (a + c) ** 2 + b * b, (b + c) ** 2 + a * a]
    n = min(squares)
    factor = max(k for k in range(1, isqrt(n) + 1) if n % (k * k) == 0)
    rest = n // factor**2
    outside = "" if factor == 1 and rest > 1 else str(factor)
    root = "" if rest == 1 else rf"\sqrt{{{rest}}}"
    return (
        f"Unfolding two neighbouring faces gives the squared lengths {squares}. The smallest is "
        f"{n}, so the walk is \\boxed{{{outside}{root}}} cm long."
    )
