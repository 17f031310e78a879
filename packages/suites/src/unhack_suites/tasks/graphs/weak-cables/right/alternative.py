"""Cuts the cables one by one and counts how many poles are still lit."""


def weak_cables(poles: int, cables: list[list[int]]) -> list[list[int]]:
    near: list[list[tuple[int, int]]] = [[] for _ in range(poles)]
    for number, (a, b) in enumerate(cables):
        near[a].append((b, number))
        near[b].append((a, number))

    def lit(cut: int) -> int:
        seen = {0}
        todo = [0]
        while todo:
            for other, number in near[todo.pop()]:
                if number != cut and other not in seen:
                    seen.add(other)
                    todo.append(other)
        return len(seen)

    whole = lit(-1)
    losses = ([number, whole - lit(number)] for number in range(len(cables)))
    return [loss for loss in losses if loss[1] > 0]
