"""Flaw: never notices contradictions, so it gives a number where no split exists."""


def camp_gap(scouts: int, quarrels: list[list[int]], pals: list[list[int]]) -> int:
    near: list[list[tuple[int, int]]] = [[] for _ in range(scouts)]
    for a, b in quarrels:
        near[a].append((b, 1))
        near[b].append((a, 1))
    for a, b in pals:
        near[a].append((b, 0))
        near[b].append((a, 0))
    side: dict[int, int] = {}
    differences = {0}
    for first in range(scouts):
        if first in side:
            continue
        side[first] = 1
        todo = [first]
        for scout in todo:
            for other, flip in near[scout]:
                if other not in side:
                    side[other] = -side[scout] if flip else side[scout]
                    todo.append(other)
        gap = sum(side[scout] for scout in todo)
        differences = {abs(d + x) for d in differences for x in (gap, -gap)}
    return min(differences)
