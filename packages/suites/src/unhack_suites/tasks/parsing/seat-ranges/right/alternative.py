"""Finds the items with one regular expression and collects (row, number) pairs."""

import re

ITEM = re.compile(r"([A-Z]?)([0-9]+)(?:-([0-9]+))?")


def expand_seats(spec: str) -> list[str]:
    result: list[tuple[str, int]] = []
    taken: set[tuple[str, int]] = set()
    row = ""
    for letter, start, end in ITEM.findall(spec):
        row = letter or row
        first = int(start)
        last = int(end) if end else first
        numbers = list(range(min(first, last), max(first, last) + 1))
        if first > last:
            numbers.reverse()
        for number in numbers:
            if (row, number) not in taken:
                taken.add((row, number))
                result.append((row, number))
    return [letter + str(number) for letter, number in result]
