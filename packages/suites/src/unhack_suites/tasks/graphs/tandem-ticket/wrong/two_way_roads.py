"""Flaw: lets every road be driven in both directions."""

import heapq


def cheapest_drive(towns: int, roads: list[list[int]], start: int, goal: int) -> int:
    leaving: list[list[tuple[int, int]]] = [[] for _ in range(towns)]
    for a, b, toll in roads:
        leaving[a].append((b, toll))
        leaving[b].append((a, toll))
    best = {(start, "unused", 0): 0}
    heap = [(0, start, "unused", 0)]
    while heap:
        cost, town, phase, last = heapq.heappop(heap)
        if town == goal:
            return cost
        if cost > best[town, phase, last]:
            continue
        for other, toll in leaving[town]:
            if phase == "unused":
                moves = [(cost + toll, "unused", 0), (cost + toll, "half", toll)]
            elif phase == "half":
                moves = [(cost + max(0, toll - last), "used", 0)]
            else:
                moves = [(cost + toll, "used", 0)]
            for total, new_phase, new_last in moves:
                key = (other, new_phase, new_last)
                if total < best.get(key, total + 1):
                    best[key] = total
                    heapq.heappush(heap, (total, *key))
    return -1
