"""Flaw: extends the first step forever, as if the pattern grew by a constant number of tiles."""
import re


def solve(prompt: str) -> str:
    figures = re.findall(r"figure (\d+) has (\d+) tiles", prompt)[-3:]
    start, first = int(figures[0][0]), int(figures[0][1])
    step = int(figures[1][1]) - first
    constant = first - step * start
    return f"Each figure adds {step} tiles, so \\boxed{{{step}n + ({constant})}}"
