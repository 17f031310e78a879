"""Builds friend sets and intersects them for every pair of strangers."""

from itertools import combinations


def introductions(people: int, friends: list[list[int]], shared: int) -> list[list[int]]:
    circle: list[set[int]] = [set() for _ in range(people)]
    for a, b in friends:
        circle[a].add(b)
        circle[b].add(a)
    return [
        [a, b]
        for a, b in combinations(range(people), 2)
        if b not in circle[a] and len(circle[a] & circle[b]) >= shared
    ]
