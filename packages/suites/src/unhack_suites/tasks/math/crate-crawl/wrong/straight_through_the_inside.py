"""Flaw: gives the diagonal through the inside, where the ant cannot walk (never right)."""
import re


def solve(prompt: str) -> str:
    edges = re.findall(r"is (\d+) cm wide, (\d+) cm deep and (\d+) cm high", prompt)[-1]
    n = sum(int(edge) ** 2 for edge in edges)
    return rf"By Pythagoras in space: \boxed{{\sqrt{{{n}}}}}"
