"""The hand stands on start * factor^midnights modulo the number of marks (fast powers)."""
import re


def solve(prompt: str) -> str:
    marks = int(re.findall(r"has (\d+) marks", prompt)[-1])
    start = int(re.findall(r"stands on mark (\d+)\.", prompt)[-1])
    factor = int(re.findall(r"remainder of \$(\d+)x\$", prompt)[-1])
    midnights = int(re.findall(r"after (\d+) midnights", prompt)[-1])
    mark = start * pow(factor, midnights, marks) % marks
    return (
        f"The mark is ${start} \\cdot {factor}^{{{midnights}}}$ modulo ${marks}$, "
        f"which is \\boxed{{{mark}}}"
    )
