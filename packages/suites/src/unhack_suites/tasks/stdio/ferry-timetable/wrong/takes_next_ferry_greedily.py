"""Flaw: at each port always boards the ferry that arrives anywhere new the soonest."""
n, m, start = map(int, input().split())
ferries = [tuple(map(int, input().split())) for _ in range(m)]
port, now = 1, start
seen = {1}
while port != n:
    options = []
    for source, target, first, period, duration in ferries:
        if source == port and target not in seen:
            wait = first - now if now < first else (first - now) % period
            options.append((now + wait + duration, target))
    if not options:
        break
    now, port = min(options)
    seen.add(port)
print(now if port == n else "never")
