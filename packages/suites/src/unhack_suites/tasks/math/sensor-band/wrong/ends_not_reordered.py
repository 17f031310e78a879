"""Flaw: divides by a negative slope without swapping the two ends."""
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
    low, high = Fraction(d - c - b, a), Fraction(d + c - b, a)
    answer = {
        "at most": f"[{low}, {high}]",
        "less than": f"({low}, {high})",
        "at least": rf"(-\infty, {low}] \cup [{high}, \infty)",
        "more than": rf"(-\infty, {low}) \cup ({high}, \infty)",
    }[words]
    return rf"\boxed{{{answer}}}"
