"""Flaw: does not notice that a group cannot be split and prints a plan all the same."""
n, m = map(int, input().split())
neighbours: list[list[int]] = [[] for _ in range(n)]
for _ in range(m):
    a, b = map(int, input().split())
    neighbours[a - 1].append(b - 1)
    neighbours[b - 1].append(a - 1)
day = [""] * n
for first in range(n):
    if day[first]:
        continue
    day[first] = "B"
    group = [first]
    for stall in group:
        for other in neighbours[stall]:
            if not day[other]:
                day[other] = "A" if day[stall] == "B" else "B"
                group.append(other)
    cold = [stall for stall in group if day[stall] == "A"]
    if 2 * len(cold) > len(group):
        for stall in group:
            day[stall] = "B" if day[stall] == "A" else "A"
print(day.count("A"))
print("".join(day))
