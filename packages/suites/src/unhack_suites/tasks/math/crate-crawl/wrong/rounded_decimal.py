"""Flaw: rounds to two decimals although an exact length is asked for."""
import re
from math import sqrt


def solve(prompt: str) -> str:
    edges = re.findall(r"is (\d+) cm wide, (\d+) cm deep and (\d+) cm high", prompt)[-1]
    a, b, c = sorted(map(int, edges))
    return rf"The walk is about \boxed{{{sqrt((a + b) ** 2 + c * c):.2f}}} cm long."
