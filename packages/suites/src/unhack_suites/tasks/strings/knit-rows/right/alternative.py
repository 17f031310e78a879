"""Rewrites counts and innermost groups with regular expressions until nothing is left to expand."""

import re

STITCH = re.compile(r"([kpsy])(\d+)")
GROUP = re.compile(r"\(([^()]*)\)x(\d+)")
BACK = {"k": "p", "p": "k"}


def knit_rows(pattern: str) -> list[str]:
    text = "".join(pattern.split())
    text = STITCH.sub(lambda m: m.group(1) * int(m.group(2)), text)
    while "(" in text:
        text = GROUP.sub(lambda m: m.group(1) * int(m.group(2)), text)
    rows: list[list[str]] = [[]]
    for char in text:
        if char == "/":
            rows.append([])
        elif len(rows) % 2 == 1:
            rows[-1].append(char)
        else:
            rows[-1].insert(0, BACK.get(char, char))
    return ["".join(row) for row in rows]
