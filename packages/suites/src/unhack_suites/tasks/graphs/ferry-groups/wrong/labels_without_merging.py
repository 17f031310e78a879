"""Flaw: relabels only the second island of a route instead of its whole group."""

from collections import Counter


def ferry_groups(islands: int, routes: list[list[int]], need: int) -> list[int]:
    label = {island: island for island in range(1, islands + 1)}
    for a, b, days in routes:
        if days >= need:
            label[b] = label[a]
    return sorted(Counter(label.values()).values(), reverse=True)
