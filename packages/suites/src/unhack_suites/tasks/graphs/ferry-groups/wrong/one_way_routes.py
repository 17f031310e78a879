"""Flaw: follows a route only from its first island to its second."""


def ferry_groups(islands: int, routes: list[list[int]], need: int) -> list[int]:
    near: dict[int, list[int]] = {island: [] for island in range(1, islands + 1)}
    for a, b, days in routes:
        if days >= need:
            near[a].append(b)
    seen: set[int] = set()
    sizes: list[int] = []
    for island in range(1, islands + 1):
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
