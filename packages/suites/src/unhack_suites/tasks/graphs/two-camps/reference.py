"""Two-colours each component, then a bit set of reachable sums over the components' gaps."""


def camp_gap(scouts: int, quarrels: list[list[int]], pals: list[list[int]]) -> int:
    near: list[list[tuple[int, int]]] = [[] for _ in range(scouts)]
    for pairs, flip in ((quarrels, 1), (pals, 0)):
        for a, b in pairs:
            near[a].append((b, flip))
            near[b].append((a, flip))
    side: list[int | None] = [None] * scouts
    gaps: list[int] = []
    for first in range(scouts):
        if side[first] is not None:
            continue
        side[first] = 0
        todo = [first]
        for scout in todo:
            for other, flip in near[scout]:
                wanted = side[scout] ^ flip
                if side[other] is None:
                    side[other] = wanted
                    todo.append(other)
                elif side[other] != wanted:
                    return -1
        south = sum(side[scout] for scout in todo)
        gaps.append(abs(len(todo) - 2 * south))
    reachable = 1
    for gap in gaps:
        reachable |= reachable << gap
    total = sum(gaps)
    return min(abs(total - 2 * s) for s in range(total + 1) if reachable >> s & 1)
