"""Counts from the middle: each member votes once for every pair of their friends."""

from collections import Counter


def introductions(people: int, friends: list[list[int]], shared: int) -> list[list[int]]:
    known = {(min(a, b), max(a, b)) for a, b in friends}
    circle: dict[int, list[int]] = {}
    for a, b in sorted(known):
        circle.setdefault(a, []).append(b)
        circle.setdefault(b, []).append(a)
    votes: Counter[tuple[int, int]] = Counter()
    for members in circle.values():
        for i, a in enumerate(members):
            for b in members[:i]:
                votes[min(a, b), max(a, b)] += 1
    return [list(pair) for pair, count in votes.items() if count >= shared and pair not in known]
