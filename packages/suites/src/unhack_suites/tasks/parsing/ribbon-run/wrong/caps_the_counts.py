"""Flaw: writes the ribbon out with counts cut to 50 so that it stays short."""

import re
from itertools import groupby


def longest_run(pattern: str) -> int:
    stack = [""]
    for symbol, digits in re.findall(r"([a-z()])(\d*)", pattern):
        if symbol == "(":
            stack.append("")
            continue
        count = min(int(digits), 50) if digits else 1
        group = stack.pop() if symbol == ")" else symbol
        stack[-1] = (stack[-1] + group * count)[:100000]
    return max((len(list(run)) for _, run in groupby(stack[0])), default=0)
