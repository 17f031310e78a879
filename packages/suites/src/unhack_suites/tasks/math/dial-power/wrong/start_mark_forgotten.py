"""Flaw: computes the power alone, as if the hand had started on mark 1."""
import re


def solve(prompt: str) -> str:
    marks = int(re.findall(r"has (\d+) marks", prompt)[-1])
    factor = int(re.findall(r"remainder of \$(\d+)x\$", prompt)[-1])
    midnights = int(re.findall(r"after (\d+) midnights", prompt)[-1])
    return f"\\boxed{{{pow(factor, midnights, marks)}}}"
