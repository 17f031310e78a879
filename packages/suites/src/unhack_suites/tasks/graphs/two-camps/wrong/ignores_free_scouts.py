"""Flaw: leaves out scouts who occur in neither list, though they can even out the camps."""


def camp_gap(scouts: int, quarrels: list[list[int]], pals: list[list[int]]) -> int:
    near: dict[int, list[tuple[int, int]]] = {}
    for pairs, flip in ((quarrels, 1), (pals, 0)):
        for a, b in pairs:
            near.setdefault(a, []).append((b, flip))
            near.setdefault(b, []).append((a, flip))
    side: dict[int, int] = {}
    differences = {0}
    for first in near:
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
        gap = len(todo) - 2 * sum(side[scout] for scout in todo)
        differences = {abs(d + x) for d in differences for x in (gap, -gap)}
    return min(differences)
