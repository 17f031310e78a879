"""Flaw: adds the factor each midnight instead of multiplying by it."""
import re


def solve(prompt: str) -> str:
    marks = int(re.findall(r"has (\d+) marks", prompt)[-1])
    start = int(re.findall(r"stands on mark (\d+)\.", prompt)[-1])
    factor = int(re.findall(r"remainder of \$(\d+)x\$", prompt)[-1])
    midnights = int(re.findall(r"after (\d+) midnights", prompt)[-1])
    return f"\\boxed{{{(start + factor * midnights) % marks}}}"
