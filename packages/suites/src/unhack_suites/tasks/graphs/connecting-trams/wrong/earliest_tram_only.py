"""Flaw: Dijkstra keeps one arrival per stop, forgetting later arrivals on a tram that goes on."""

import heapq


def earliest_arrival(
    legs: list[list[int]], gap: int, origin: int, target: int, begin: int
) -> int:
    heap = [(begin, origin, -1)]
    done: set[int] = set()
    while heap:
        time, stop, tram = heapq.heappop(heap)
        if stop == target:
            return time
        if stop in done:
            continue
        done.add(stop)
        for number, here, there, depart, arrive in legs:
            if here == stop:
                ready = time if tram in (-1, number) else time + gap
                if depart >= ready:
                    heapq.heappush(heap, (arrive, there, number))
    return -1
