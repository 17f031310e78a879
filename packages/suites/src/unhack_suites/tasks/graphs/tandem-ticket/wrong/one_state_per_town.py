"""Flaw: keeps one first tandem road per town, the cheapest, though a dearer one may save more."""

import heapq


def cheapest_drive(towns: int, roads: list[list[int]], start: int, goal: int) -> int:
    near: list[list[tuple[int, int]]] = [[] for _ in range(towns)]
    for a, b, toll in roads:
        near[a].append((b, toll))
    # phase 0: unused, 1: one tandem road driven, 2: used
    best = {(start, 0): 0}
    heap = [(0, start, 0, 0)]
    while heap:
        cost, town, phase, last = heapq.heappop(heap)
        if town == goal:
            return cost
        if cost > best[town, phase]:
            continue
        for other, toll in near[town]:
            if phase == 0:
                moves = [(cost + toll, 0), (cost + toll, 1)]
            elif phase == 1:
                moves = [(cost + max(0, toll - last), 2)]
            else:
                moves = [(cost + toll, 2)]
            for total, new_phase in moves:
                if total < best.get((other, new_phase), total + 1):
                    best[other, new_phase] = total
                    heapq.heappush(heap, (total, other, new_phase, toll))
    return -1
