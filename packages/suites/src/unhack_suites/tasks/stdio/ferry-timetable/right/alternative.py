"""Relaxes every ferry line again and again until no arrival time improves (Bellman-Ford)."""
n, m, start = map(int, input().split())
ferries = [tuple(map(int, input().split())) for _ in range(m)]
arrival: list[float] = [float("inf")] * (n + 1)
arrival[1] = start
changed = True
while changed:
    changed = False
    for source, target, first, period, duration in ferries:
        if arrival[source] == float("inf"):
            continue
        wait = first - int(arrival[source])
        if wait < 0:
            wait %= period
        reached = arrival[source] + wait + duration
        if reached < arrival[target]:
            arrival[target] = reached
            changed = True
print("never" if arrival[n] == float("inf") else int(arrival[n]))
