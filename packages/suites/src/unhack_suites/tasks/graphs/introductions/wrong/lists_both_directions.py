"""Flaw: walks friends of friends and reports each pair in both directions."""


def introductions(people: int, friends: list[list[int]], shared: int) -> list[list[int]]:
    circle: list[set[int]] = [set() for _ in range(people)]
    for a, b in friends:
        circle[a].add(b)
        circle[b].add(a)
    pairs = []
    for a in range(people):
        for b in range(people):
            if a != b and b not in circle[a] and len(circle[a] & circle[b]) >= shared:
                pairs.append([a, b])
    return pairs
