"""Flaw: searches only islands that have a frequent route, so groups of one are lost."""

from collections import defaultdict


def ferry_groups(islands: int, routes: list[list[int]], need: int) -> list[int]:
    near: defaultdict[int, set[int]] = defaultdict(set)
    for a, b, days in routes:
        if days >= need:
            near[a].add(b)
            near[b].add(a)
    seen: set[int] = set()
    sizes: list[int] = []
    for island in list(near):
        if island in seen:
            continue
        seen.add(island)
        todo = [island]
        for here in todo:
            for other in near[here]:
                if other not in seen:
                    seen.add(other)
                    todo.append(other)
        sizes.append(len(todo))
    return sorted(sizes, reverse=True)
