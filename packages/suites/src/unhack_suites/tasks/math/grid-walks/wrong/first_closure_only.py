"""Flaw: leaves out only the routes past the first closed crossing."""
import re
from math import comb


def between(start: tuple[int, int], goal: tuple[int, int]) -> int:
    east, north = goal[0] - start[0], goal[1] - start[1]
    return comb(east + north, east) if east >= 0 and north >= 0 else 0


def solve(prompt: str) -> str:
    numbers = re.findall(r"\$\((\d+), (\d+)\)\$", prompt)[-4:]
    home, goal, closed, _ = [(int(east), int(north)) for east, north in numbers]
    count = between(home, goal) - between(home, closed) * between(closed, goal)
    return f"\\boxed{{{count}}}"
