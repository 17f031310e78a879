"""Flaw: does not leave out pairs who are friends already."""


def introductions(people: int, friends: list[list[int]], shared: int) -> list[list[int]]:
    circle: list[set[int]] = [set() for _ in range(people)]
    for a, b in friends:
        circle[a].add(b)
        circle[b].add(a)
    return [
        [a, b]
        for a in range(people)
        for b in range(a + 1, people)
        if len(circle[a] & circle[b]) >= shared
    ]
