"""Flaw: keeps friend lists with repeats, so one common friend may be counted twice."""


def introductions(people: int, friends: list[list[int]], shared: int) -> list[list[int]]:
    circle: list[list[int]] = [[] for _ in range(people)]
    for a, b in friends:
        circle[a].append(b)
        circle[b].append(a)
    pairs = []
    for a in range(people):
        for b in range(a + 1, people):
            if b not in circle[a]:
                common = sum(1 for member in circle[a] if member in circle[b])
                if common >= shared:
                    pairs.append([a, b])
    return pairs
