"""Depth-first search from every island not seen yet, over neighbour lists."""


def ferry_groups(islands: int, routes: list[list[int]], need: int) -> list[int]:
    near: dict[int, list[int]] = {island: [] for island in range(1, islands + 1)}
    for a, b, days in routes:
        if days >= need:
            near[a].append(b)
            near[b].append(a)
    unseen = set(near)
    sizes: list[int] = []
    while unseen:
        todo = [unseen.pop()]
        size = 0
        while todo:
            island = todo.pop()
            size += 1
            for other in near[island]:
                if other in unseen:
                    unseen.remove(other)
                    todo.append(other)
        sizes.append(size)
    sizes.sort()
    return sizes[::-1]
