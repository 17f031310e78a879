"""Flaw: uses two copies for every repeated group, also when it has a single colour."""

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
        count = int(digits) if digits else 1
        if symbol != ")":
            repeated = [[symbol, count]] if count else []
        else:
            group = stack.pop()
            repeated = []
            for _ in range(min(count, 2)):
                extend(repeated, [list(run) for run in group])
        extend(stack[-1], repeated)
    return max((length for _, length in stack[0]), default=0)
