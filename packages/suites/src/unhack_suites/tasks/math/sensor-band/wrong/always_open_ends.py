"""Flaw: writes round brackets everywhere, also for `at most` and `at least`."""
import re
from fractions import Fraction


def solve(prompt: str) -> str:
    slope, offset, target, words, width = re.findall(
        r"value \$(-?\d*)t(| [+-] \d+)\$.*?differs from \$(-?\d+)\$ "
        r"by (at most|less than|at least|more than) \$(\d+)\$",
        prompt,
    )[-1]
    a = int(slope + "1" if slope in ("", "-") else slope)
    b = int(offset.replace(" ", "") or 0)
    d, c = int(target), int(width)
    low, high = sorted((Fraction(d - c - b, a), Fraction(d + c - b, a)))
    if words in ("at most", "less than"):
        return rf"\boxed{{({low}, {high})}}"
    return rf"\boxed{{(-\infty, {low}) \cup ({high}, \infty)}}"
