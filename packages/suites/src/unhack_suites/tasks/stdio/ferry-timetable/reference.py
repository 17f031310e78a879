"""Dijkstra's algorithm on arrival times; waiting never hurts, so the earliest arrival is enough."""
import heapq
import sys


def departure(now: int, first: int, period: int) -> int:
    if now <= first:
        return first
    return first + -(-(now - first) // period) * period


def main() -> None:
    data = list(map(int, sys.stdin.read().split()))
    ports, count, start = data[:3]
    lines: list[list[tuple[int, int, int, int]]] = [[] for _ in range(ports + 1)]
    for i in range(3, 3 + 5 * count, 5):
        source, target, first, period, duration = data[i : i + 5]
        lines[source].append((target, first, period, duration))
    best = {1: start}
    queue = [(start, 1)]
    while queue:
        now, port = heapq.heappop(queue)
        if port == ports:
            print(now)
            return
        if now > best[port]:
            continue
        for target, first, period, duration in lines[port]:
            arrival = departure(now, first, period) + duration
            if target not in best or arrival < best[target]:
                best[target] = arrival
                heapq.heappush(queue, (arrival, target))
    print("never")


if __name__ == "__main__":
    main()
