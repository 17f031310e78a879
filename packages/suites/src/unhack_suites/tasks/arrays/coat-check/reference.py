"""Dictionary from name to hook, and a heap of the free hooks."""

import heapq


def coat_check(hooks: int, events: list[list[str]]) -> list[int]:
    hook_of: dict[str, int] = {}
    free = list(range(1, hooks + 1))
    told = []
    for event in events:
        if event[0] == "in":
            name = event[1]
            if name not in hook_of and free:
                hook_of[name] = heapq.heappop(free)
            told.append(hook_of.get(name, 0))
        elif event[0] == "out":
            if event[1] in hook_of:
                heapq.heappush(free, hook_of.pop(event[1]))
        else:
            names = sorted(hook_of, key=lambda name: hook_of[name])
            hook_of = {name: hook for hook, name in enumerate(names, start=1)}
            free = list(range(len(names) + 1, hooks + 1))
    return told
