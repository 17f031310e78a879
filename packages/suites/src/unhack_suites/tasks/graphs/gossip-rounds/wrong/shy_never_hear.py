"""Flaw: takes shy people out of the office, so they never hear the gossip."""

from collections import deque


def gossip_rounds(tells: list[list[int]], starter: int, shy: list[int]) -> list[int]:
    skip = set(shy)
    heard = [-1] * len(tells)
    heard[starter] = 0
    queue = deque([starter])
    while queue:
        person = queue.popleft()
        for other in tells[person]:
            if other not in skip and heard[other] == -1:
                heard[other] = heard[person] + 1
                queue.append(other)
    return heard
