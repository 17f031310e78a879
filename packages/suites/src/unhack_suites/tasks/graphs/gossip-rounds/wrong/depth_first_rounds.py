"""Flaw: depth-first search keeps the first depth it finds, not the smallest."""


def gossip_rounds(tells: list[list[int]], starter: int, shy: list[int]) -> list[int]:
    silent = set(shy) - {starter}
    heard = [-1] * len(tells)

    def visit(person: int, depth: int) -> None:
        heard[person] = depth
        if person in silent:
            return
        for other in tells[person]:
            if heard[other] == -1:
                visit(other, depth + 1)

    visit(starter, 0)
    return heard
