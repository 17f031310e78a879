"""Shortest path over prefix lengths; echoes are read off a table of common suffix lengths."""

import heapq


def fewest_presses(target: str) -> int:
    size = len(target)
    common = [[0] * (size + 1) for _ in range(size + 1)]
    for a in range(1, size + 1):
        for b in range(a + 1, size + 1):
            if target[a - 1] == target[b - 1]:
                common[a][b] = common[a - 1][b - 1] + 1
    done: set[int] = set()
    heap = [(0, 0)]
    while heap:
        presses, length = heapq.heappop(heap)
        if length == size:
            return presses
        if length in done:
            continue
        done.add(length)
        heapq.heappush(heap, (presses + 1, length + 1))
        for k in range(1, min(length, size - length) + 1):
            if common[length][length + k] >= k:
                heapq.heappush(heap, (presses + 2, length + k))
    return size
