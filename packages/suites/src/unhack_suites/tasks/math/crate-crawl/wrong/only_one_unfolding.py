"""Flaw: always unfolds along the height and never compares the other two ways."""
import re


def solve(prompt: str) -> str:
    edges = re.findall(r"is (\d+) cm wide, (\d+) cm deep and (\d+) cm high", prompt)[-1]
    a, b, c = map(int, edges)
    return rf"Unfold two side faces: \boxed{{\sqrt{{{(a + b) ** 2 + c * c}}}}}"
