"""Flaw: tries all orders but always delivers a parcel before it fetches the next one."""
from itertools import permutations

rows, columns, bag = map(int, input().split())
plan = [input().strip() for _ in range(rows)]
where = {plan[r][c]: (r, c) for r in range(rows) for c in range(columns)}


def walk(start: str, goal: str) -> float:
    steps = {where[start]: 0}
    queue = [where[start]]
    for r, c in queue:
        for cell in ((r + 1, c), (r - 1, c), (r, c + 1), (r, c - 1)):
            inside = 0 <= cell[0] < rows and 0 <= cell[1] < columns
            if inside and cell not in steps and plan[cell[0]][cell[1]] != "#":
                steps[cell] = steps[r, c] + 1
                queue.append(cell)
    return steps.get(where[goal], float("inf"))


letters = [mark for mark in where if mark in "abcd"]
best = float("inf")
for order in permutations(letters):
    here, total = "S", 0.0
    for mark in order:
        total += walk(here, mark) + walk(mark, mark.upper())
        here = mark.upper()
    best = min(best, total)
print(-1 if best == float("inf") else int(best))
