"""Flaw: counts the start as the first midnight, so the power is one too small."""
import re


def solve(prompt: str) -> str:
    marks = int(re.findall(r"has (\d+) marks", prompt)[-1])
    start = int(re.findall(r"stands on mark (\d+)\.", prompt)[-1])
    factor = int(re.findall(r"remainder of \$(\d+)x\$", prompt)[-1])
    midnights = int(re.findall(r"after (\d+) midnights", prompt)[-1])
    mark = start * pow(factor, max(midnights - 1, 0), marks) % marks
    return f"\\boxed{{{mark}}}"
