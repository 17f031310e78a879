"""Flaw: compares only the plan and its full mirror image, not each connected group by itself."""
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
if not possible:
    print("impossible")
else:
    if day.count("A") > n // 2:
        day = ["A" if letter == "B" else "B" for letter in day]
    print(day.count("A"))
    print("".join(day))
