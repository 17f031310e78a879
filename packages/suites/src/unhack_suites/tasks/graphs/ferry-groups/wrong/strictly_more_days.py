"""Flaw: takes a route as frequent only when days > need, not days >= need."""


def ferry_groups(islands: int, routes: list[list[int]], need: int) -> list[int]:
    near: dict[int, list[int]] = {island: [] for island in range(1, islands + 1)}
    for a, b, days in routes:
        if days > need:
            near[a].append(b)
            near[b].append(a)
    seen: set[int] = set()
    sizes: list[int] = []
    for island in near:
        if island in seen:
            continue
        seen.add(island)
        todo = [island]
        size = 0
        while todo:
            here = todo.pop()
            size += 1
            for other in near[here]:
                if other not in seen:
                    seen.add(other)
                    todo.append(other)
        sizes.append(size)
    return sorted(sizes, reverse=True)
