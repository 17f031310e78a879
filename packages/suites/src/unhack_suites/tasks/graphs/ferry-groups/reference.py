"""Union-find over the frequent routes, then count the members of each root."""

from collections import Counter


def ferry_groups(islands: int, routes: list[list[int]], need: int) -> list[int]:
    parent = list(range(islands + 1))

    def root(island: int) -> int:
        while parent[island] != island:
            parent[island] = parent[parent[island]]
            island = parent[island]
        return island

    for a, b, days in routes:
        if days >= need:
            parent[root(a)] = root(b)
    sizes = Counter(root(island) for island in range(1, islands + 1))
    return sorted(sizes.values(), reverse=True)
