"""Flaw: joins the two longest edges, which gives the longest of the three unfoldings."""
import re


def solve(prompt: str) -> str:
    edges = re.findall(r"is (\d+) cm wide, (\d+) cm deep and (\d+) cm high", prompt)[-1]
    a, b, c = sorted(map(int, edges))
    return rf"Unfold: \boxed{{\sqrt{{{(b + c) ** 2 + a * a}}}}}"
