"""Flaw: looks only inside a repeated group, not at the seam between two copies."""

import re


def longest_run(pattern: str) -> int:
    def extend(target: list[list], more: list[list]) -> None:
        for colour, length in more:
            if target and target[-1][0] == colour:
                target[-1][1] += length
            else:
                target.append([colour, length])

    stack: list[list[list]] = [[]]
    for symbol, digits in re.findall(r"([a-z()])(\d*)", pattern):
        if symbol == "(":
            stack.append([])
            continue
        count = int(digits or 1)
        group = stack.pop() if symbol == ")" else [[symbol, 1]]
        if count == 0:
            group = []
        elif len(group) == 1:
            group = [[group[0][0], group[0][1] * count]]
        extend(stack[-1], group)
    return max((length for _, length in stack[0]), default=0)
