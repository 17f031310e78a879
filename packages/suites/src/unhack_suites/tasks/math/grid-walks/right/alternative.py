"""Inclusion and exclusion with binomial coefficients over the two closed crossings."""
import re
from math import comb


def between(start: tuple[int, int], goal: tuple[int, int]) -> int:
    east, north = goal[0] - start[0], goal[1] - start[1]
    return comb(east + north, east) if east >= 0 and north >= 0 else 0


def solve(prompt: str) -> str:
    story = prompt[prompt.rindex("Streets form") :]
    home, goal, p, q = [
        tuple(map(int, pair.strip("()").split(", "))) for pair in re.findall(r"\(\d+, \d+\)", story)
    ]
    count = between(home, goal)
    for closed in (p, q):
        count -= between(home, closed) * between(closed, goal)
    for first, second in ((p, q), (q, p)):
        count += between(home, first) * between(first, second) * between(second, goal)
    return f"All {between(home, goal)} routes, without those past {p} or {q}: $\\boxed{{{count}}}$."
