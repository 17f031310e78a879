"""Flaw: asks for exactly `shared` common friends instead of at least that many."""


def introductions(people: int, friends: list[list[int]], shared: int) -> list[list[int]]:
    circle: list[set[int]] = [set() for _ in range(people)]
    for a, b in friends:
        circle[a].add(b)
        circle[b].add(a)
    return [
        [a, b]
        for a in range(people)
        for b in range(a + 1, people)
        if b not in circle[a] and len(circle[a] & circle[b]) == shared
    ]
