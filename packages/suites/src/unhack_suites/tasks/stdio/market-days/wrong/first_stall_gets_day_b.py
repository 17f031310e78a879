"""Flaw: puts the first stall of each group on day B and never tries the other way round."""
n, m = map(int, input().split())
neighbours: list[list[int]] = [[] for _ in range(n)]
for _ in range(m):
    a, b = map(int, input().split())
    neighbours[a - 1].append(b - 1)
    neighbours[b - 1].append(a - 1)
day = [""] * n
possible = True
for first in range(n):
    if day[first]:
        continue
    day[first] = "B"
    stack = [first]
    while stack:
        stall = stack.pop()
        for other in neighbours[stall]:
            if not day[other]:
                day[other] = "A" if day[stall] == "B" else "B"
                stack.append(other)
            elif day[other] == day[stall]:
                possible = False
print("impossible" if not possible else f"{day.count('A')}\n{''.join(day)}")
