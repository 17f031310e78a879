"""Flaw: a count is read as one digit only."""

import re


def knit_rows(pattern: str) -> list[str]:
    text = pattern.replace(" ", "")
    text = re.sub(r"([kpsy])(\d)", lambda m: m.group(1) * int(m.group(2)), text)
    while True:
        new = re.sub(r"\(([^()]*)\)x(\d)", lambda m: m.group(1) * int(m.group(2)), text)
        if new == text:
            break
        text = new
    rows = text.split("/")
    swap = str.maketrans("kp", "pk")
    return [r[::-1].translate(swap) if i % 2 else r for i, r in enumerate(rows)]
