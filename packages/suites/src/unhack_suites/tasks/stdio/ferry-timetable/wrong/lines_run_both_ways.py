"""Flaw: lets the traveller use each ferry line in both directions."""
import heapq

n, m, start = map(int, input().split())
lines: dict[int, list[tuple[int, int, int, int]]] = {}
for _ in range(m):
    source, target, first, period, duration = map(int, input().split())
    lines.setdefault(source, []).append((target, first, period, duration))
    lines.setdefault(target, []).append((source, first, period, duration))
best = {1: start}
queue = [(start, 1)]
while queue:
    now, port = heapq.heappop(queue)
    if now > best[port]:
        continue
    for target, first, period, duration in lines.get(port, []):
        wait = first - now if now < first else (first - now) % period
        reached = now + wait + duration
        if reached < best.get(target, 10**18):
            best[target] = reached
            heapq.heappush(queue, (reached, target))
print(best.get(n, "never"))
