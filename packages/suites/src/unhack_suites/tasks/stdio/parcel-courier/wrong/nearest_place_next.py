"""Flaw: always walks to the nearest useful place (parcel or destination) next."""
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


waiting = sorted(mark for mark in where if mark in "abcd")
carried: list[str] = []
here, total = "S", 0.0
while waiting or carried:
    options = [mark.upper() for mark in carried]
    if len(carried) < bag:
        options += waiting
    target = min(options, key=lambda mark: (walk(here, mark), mark))
    total += walk(here, target)
    here = target
    if target in waiting:
        waiting.remove(target)
        carried.append(target)
    else:
        carried.remove(target.lower())
print(-1 if total == float("inf") else int(total))
