"""Flaw: counts all routes, as if no crossing were closed."""
import re
from math import comb


def solve(prompt: str) -> str:
    numbers = re.findall(r"\$\((\d+), (\d+)\)\$", prompt)[-4:]
    east, north = map(int, numbers[1])
    return f"$\\binom{{{east + north}}}{{{north}}}$ is \\boxed{{{comb(east + north, north)}}}"
