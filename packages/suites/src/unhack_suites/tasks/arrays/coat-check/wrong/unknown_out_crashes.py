"""Flaw: taking away a coat that is not hanging raises KeyError."""

import heapq


def coat_check(hooks: int, events: list[list[str]]) -> list[int]:
    free = list(range(1, hooks + 1))
    hook_of: dict[str, int] = {}
    told = []
    for event in events:
        if event[0] == "in":
            if event[1] not in hook_of and free:
                hook_of[event[1]] = heapq.heappop(free)
            told.append(hook_of.get(event[1], 0))
        elif event[0] == "out":
            heapq.heappush(free, hook_of.pop(event[1]))
        else:
            names = sorted(hook_of, key=hook_of.__getitem__)
            hook_of = {name: i for i, name in enumerate(names, 1)}
            free = list(range(len(names) + 1, hooks + 1))
    return told
