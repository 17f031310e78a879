"""Flaw: also searches the poles that are dark already and reports their cables."""


def weak_cables(poles: int, cables: list[list[int]]) -> list[list[int]]:
    near: list[list[tuple[int, int]]] = [[] for _ in range(poles)]
    for number, (a, b) in enumerate(cables):
        near[a].append((b, number))
        near[b].append((a, number))
    order: dict[int, int] = {}
    low: dict[int, int] = {}
    weak: list[list[int]] = []

    def visit(pole: int, entry: int) -> int:
        order[pole] = low[pole] = len(order)
        size = 1
        for other, number in near[pole]:
            if number == entry:
                continue
            if other in order:
                low[pole] = min(low[pole], order[other])
            else:
                below = visit(other, number)
                size += below
                low[pole] = min(low[pole], low[other])
                if low[other] > order[pole]:
                    weak.append([number, below])
        return size

    for pole in range(poles):
        if pole not in order:
            visit(pole, -1)
    return sorted(weak)
