"""Flaw: forgets that the starter talks even when shy."""

from collections import deque


def gossip_rounds(tells: list[list[int]], starter: int, shy: list[int]) -> list[int]:
    silent = set(shy)
    heard = [-1] * len(tells)
    heard[starter] = 0
    queue = deque([starter])
    while queue:
        person = queue.popleft()
        if person in silent:
            continue
        for other in tells[person]:
            if heard[other] == -1:
                heard[other] = heard[person] + 1
                queue.append(other)
    return heard
