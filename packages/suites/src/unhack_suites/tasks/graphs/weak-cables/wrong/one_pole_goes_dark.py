"""Flaw: finds the weak cables but only counts the pole at the far end, not those behind it."""


def weak_cables(poles: int, cables: list[list[int]]) -> list[list[int]]:
    def lit(cut: int) -> set[int]:
        seen = {0}
        todo = [0]
        while todo:
            pole = todo.pop()
            for number, (a, b) in enumerate(cables):
                if number != cut and pole in (a, b):
                    other = b if pole == a else a
                    if other not in seen:
                        seen.add(other)
                        todo.append(other)
        return seen

    whole = lit(-1)
    result = []
    for number, ends in enumerate(cables):
        lost = [pole for pole in ends if pole in whole - lit(number)]
        if lost:
            result.append([number, len(lost)])
    return result
