"""Bellman-Ford from the start and towards the goal, then tries every pair of joined roads."""

INFINITE = float("inf")


def _costs(towns: int, roads: list[tuple[int, int, int]], source: int) -> list[float]:
    cost: list[float] = [INFINITE] * towns
    cost[source] = 0
    changed = True
    while changed:
        changed = False
        for a, b, toll in roads:
            if cost[a] + toll < cost[b]:
                cost[b] = cost[a] + toll
                changed = True
    return cost


def cheapest_drive(towns: int, roads: list[list[int]], start: int, goal: int) -> int:
    ahead = _costs(towns, [(a, b, toll) for a, b, toll in roads], start)
    behind = _costs(towns, [(b, a, toll) for a, b, toll in roads], goal)
    best = ahead[goal]
    for a, middle, first in roads:
        if ahead[a] == INFINITE:
            continue
        for also_middle, b, second in roads:
            if middle == also_middle:
                best = min(best, ahead[a] + max(first, second) + behind[b])
    return -1 if best == INFINITE else int(best)
