"""Flaw: the running maximum starts at 0, so poles with tops up to 0 are never seen."""


def one_sided_poles(tops: list[int]) -> list[int]:
    left, right = set(), set()
    highest = 0
    for i in range(len(tops)):
        if tops[i] > highest:
            left.add(i)
            highest = tops[i]
    highest = 0
    for i in reversed(range(len(tops))):
        if tops[i] > highest:
            right.add(i)
            highest = tops[i]
    return sorted(left ^ right)
