"""Dijkstra over states: ticket unused, halfway through the ticket on a given road, or used."""

import heapq

UNUSED, USED = -2, -1


def cheapest_drive(towns: int, roads: list[list[int]], start: int, goal: int) -> int:
    leaving: list[list[int]] = [[] for _ in range(towns)]
    for index, (a, _, _) in enumerate(roads):
        leaving[a].append(index)
    # The second part of a state is UNUSED, USED, or the first road of the tandem pair.
    best = {(start, UNUSED): 0}
    heap = [(0, start, UNUSED)]
    while heap:
        cost, town, phase = heapq.heappop(heap)
        if cost > best[town, phase]:
            continue
        if town == goal:
            return cost
        for index in leaving[town]:
            _, other, toll = roads[index]
            if phase == UNUSED:
                moves = [(cost + toll, UNUSED), (cost + toll, index)]
            elif phase == USED:
                moves = [(cost + toll, USED)]
            else:
                moves = [(cost + max(0, toll - roads[phase][2]), USED)]
            for total, new_phase in moves:
                if total < best.get((other, new_phase), total + 1):
                    best[other, new_phase] = total
                    heapq.heappush(heap, (total, other, new_phase))
    return -1
