"""Flaw: takes (first - now) % period as the wait, so ferries also run before their first trip."""
import heapq

n, m, start = map(int, input().split())
lines: dict[int, list[tuple[int, int, int, int]]] = {}
for _ in range(m):
    source, target, first, period, duration = map(int, input().split())
    lines.setdefault(source, []).append((target, first, period, duration))
best = {1: start}
queue = [(start, 1)]
while queue:
    now, port = heapq.heappop(queue)
    if now > best[port]:
        continue
    for target, first, period, duration in lines.get(port, []):
        reached = now + (first - now) % period + duration
        if reached < best.get(target, 10**18):
            best[target] = reached
            heapq.heappush(queue, (reached, target))
print(best.get(n, "never"))
