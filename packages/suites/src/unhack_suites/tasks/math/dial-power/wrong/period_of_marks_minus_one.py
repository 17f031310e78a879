"""Flaw: reduces the exponent modulo (marks - 1), which only works for a prime number of marks."""
import re


def solve(prompt: str) -> str:
    marks = int(re.findall(r"has (\d+) marks", prompt)[-1])
    start = int(re.findall(r"stands on mark (\d+)\.", prompt)[-1])
    factor = int(re.findall(r"remainder of \$(\d+)x\$", prompt)[-1])
    midnights = int(re.findall(r"after (\d+) midnights", prompt)[-1])
    mark = start * pow(factor, midnights % (marks - 1), marks) % marks
    return f"By Fermat's little theorem the mark is \\boxed{{{mark}}}"
