"""Flaw: a ferry that leaves at the very minute of arrival counts as missed."""
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
        if now < first:
            leave = first
        else:
            leave = first + ((now - first) // period + 1) * period
        if leave + duration < best.get(target, 10**18):
            best[target] = leave + duration
            heapq.heappush(queue, (leave + duration, target))
print(best.get(n, "never"))
