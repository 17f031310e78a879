"""Flaw: puts the first scout of every group into the north camp and never turns a group round."""


def camp_gap(scouts: int, quarrels: list[list[int]], pals: list[list[int]]) -> int:
    near: list[list[tuple[int, int]]] = [[] for _ in range(scouts)]
    for a, b in quarrels:
        near[a].append((b, 1))
        near[b].append((a, 1))
    for a, b in pals:
        near[a].append((b, 0))
        near[b].append((a, 0))
    side: dict[int, int] = {}
    for first in range(scouts):
        if first in side:
            continue
        side[first] = 0
        todo = [first]
        while todo:
            scout = todo.pop()
            for other, flip in near[scout]:
                if other not in side:
                    side[other] = side[scout] ^ flip
                    todo.append(other)
                elif side[other] != side[scout] ^ flip:
                    return -1
    return abs(scouts - 2 * sum(side.values()))
