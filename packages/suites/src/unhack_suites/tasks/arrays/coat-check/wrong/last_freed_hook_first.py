"""Flaw: free hooks are kept on a stack, so the hook freed last is used first."""


def coat_check(hooks: int, events: list[list[str]]) -> list[int]:
    free = list(range(hooks, 0, -1))
    hook_of: dict[str, int] = {}
    told = []
    for event in events:
        if event[0] == "in":
            if event[1] not in hook_of and free:
                hook_of[event[1]] = free.pop()
            told.append(hook_of.get(event[1], 0))
        elif event[0] == "out":
            if event[1] in hook_of:
                free.append(hook_of.pop(event[1]))
        else:
            order = sorted(hook_of.items(), key=lambda item: item[1])
            hook_of = {name: i + 1 for i, (name, _) in enumerate(order)}
            free = list(range(hooks, len(order), -1))
    return told
