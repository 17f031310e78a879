"""Flaw: lets any one road be free, without the condition on the road beside it."""

import heapq


def cheapest_drive(towns: int, roads: list[list[int]], start: int, goal: int) -> int:
    near: list[list[tuple[int, int]]] = [[] for _ in range(towns)]
    for a, b, toll in roads:
        near[a].append((b, toll))
    best = {(start, 0): 0}
    heap = [(0, start, 0)]
    while heap:
        cost, town, used = heapq.heappop(heap)
        if town == goal:
            return cost
        if cost > best[town, used]:
            continue
        for other, toll in near[town]:
            moves = [(cost + toll, used)]
            if not used:
                moves.append((cost, 1))
            for total, flag in moves:
                if total < best.get((other, flag), total + 1):
                    best[other, flag] = total
                    heapq.heappush(heap, (total, other, flag))
    return -1
