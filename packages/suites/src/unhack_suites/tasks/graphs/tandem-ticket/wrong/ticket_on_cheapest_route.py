"""Flaw: finds the cheapest route without the ticket, then applies the ticket to that route."""

import heapq


def cheapest_drive(towns: int, roads: list[list[int]], start: int, goal: int) -> int:
    near: list[list[tuple[int, int]]] = [[] for _ in range(towns)]
    for a, b, toll in roads:
        near[a].append((b, toll))
    best = {start: 0}
    came: dict[int, tuple[int, int]] = {}
    heap = [(0, start)]
    while heap:
        cost, town = heapq.heappop(heap)
        if cost > best[town]:
            continue
        for other, toll in near[town]:
            if other not in best or cost + toll < best[other]:
                best[other] = cost + toll
                came[other] = (town, toll)
                heapq.heappush(heap, (cost + toll, other))
    if goal not in best:
        return -1
    tolls = []
    town = goal
    while town != start:
        town, toll = came[town]
        tolls.append(toll)
    saving = max((min(x, y) for x, y in zip(tolls, tolls[1:])), default=0)
    return sum(tolls) - saving
