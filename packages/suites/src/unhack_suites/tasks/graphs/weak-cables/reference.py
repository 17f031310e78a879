"""Low-link values in one depth-first search from the station, skipping the entry cable."""


def weak_cables(poles: int, cables: list[list[int]]) -> list[list[int]]:
    near: list[list[tuple[int, int]]] = [[] for _ in range(poles)]
    for number, (a, b) in enumerate(cables):
        near[a].append((b, number))
        near[b].append((a, number))
    order = {0: 0}
    low = [0] * poles
    size = [1] * poles
    weak: list[list[int]] = []
    stack = [(0, -1, iter(near[0]))]
    while stack:
        pole, entry, rest = stack[-1]
        for other, number in rest:
            if number == entry:
                continue
            if other in order:
                low[pole] = min(low[pole], order[other])
            else:
                order[other] = low[other] = len(order)
                stack.append((other, number, iter(near[other])))
                break
        else:
            stack.pop()
            if stack:
                above = stack[-1][0]
                low[above] = min(low[above], low[pole])
                size[above] += size[pole]
                if low[pole] > order[above]:
                    weak.append([entry, size[pole]])
    return sorted(weak)
