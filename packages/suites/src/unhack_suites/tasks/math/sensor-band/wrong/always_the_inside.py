"""Flaw: gives the part between the ends, also for `at least` and `more than`."""
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
    if words.startswith("at"):
        return rf"\boxed{{\left[{low}, {high}\right]}}"
    return rf"\boxed{{\left({low}, {high}\right)}}"
