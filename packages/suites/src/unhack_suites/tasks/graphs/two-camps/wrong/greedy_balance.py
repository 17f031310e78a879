"""Flaw: places groups greedily, largest gap first, instead of trying all sums."""


def camp_gap(scouts: int, quarrels: list[list[int]], pals: list[list[int]]) -> int:
    near: list[list[tuple[int, int]]] = [[] for _ in range(scouts)]
    for a, b in quarrels:
        near[a].append((b, 1))
        near[b].append((a, 1))
    for a, b in pals:
        near[a].append((b, 0))
        near[b].append((a, 0))
    side: dict[int, int] = {}
    gaps = []
    for first in range(scouts):
        if first in side:
            continue
        side[first] = 0
        todo = [first]
        for scout in todo:
            for other, flip in near[scout]:
                if other not in side:
                    side[other] = side[scout] ^ flip
                    todo.append(other)
                elif side[other] != side[scout] ^ flip:
                    return -1
        south = sum(side[scout] for scout in todo)
        gaps.append(abs(len(todo) - 2 * south))
    difference = 0
    for gap in sorted(gaps, reverse=True):
        difference = abs(difference - gap)
    return difference
