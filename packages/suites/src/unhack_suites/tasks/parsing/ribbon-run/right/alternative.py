"""Run-length lists on a stack; a group of several colours needs no more than two copies."""

import re

TOKEN = re.compile(r"([a-z()])([0-9]*)")

Runs = list[tuple[str, int]]


def _extend(target: Runs, more: Runs) -> None:
    for colour, length in more:
        if target and target[-1][0] == colour:
            target[-1] = (colour, target[-1][1] + length)
        else:
            target.append((colour, length))


def longest_run(pattern: str) -> int:
    stack: list[Runs] = [[]]
    for symbol, digits in TOKEN.findall(pattern):
        if symbol == "(":
            stack.append([])
            continue
        count = int(digits) if digits else 1
        group = stack.pop() if symbol == ")" else [(symbol, 1)]
        if len(group) == 1:
            colour, length = group[0]
            group = [(colour, length * count)] if count else []
        else:
            # Further copies only repeat the seam between the first and the second.
            once = group
            group = []
            for _ in range(min(count, 2)):
                _extend(group, once)
        _extend(stack[-1], group)
    return max((length for _, length in stack[0]), default=0)
