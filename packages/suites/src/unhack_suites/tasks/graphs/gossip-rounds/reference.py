"""Breadth-first search with a queue; shy people are not expanded."""

from collections import deque


def gossip_rounds(tells: list[list[int]], starter: int, shy: list[int]) -> list[int]:
    silent = set(shy) - {starter}
    heard = [-1] * len(tells)
    heard[starter] = 0
    queue = deque([starter])
    while queue:
        person = queue.popleft()
        if person in silent:
            continue
        for other in tells[person]:
            if heard[other] < 0:
                heard[other] = heard[person] + 1
                queue.append(other)
    return heard
