"""Flaw: tidying keeps the order in which the coats came, not the order of their hooks."""


def coat_check(hooks: int, events: list[list[str]]) -> list[int]:
    hook_of: dict[str, int] = {}
    told = []
    for event in events:
        kind = event[0]
        if kind == "in":
            name = event[1]
            if name not in hook_of:
                used = set(hook_of.values())
                free = [h for h in range(1, hooks + 1) if h not in used]
                if free:
                    hook_of[name] = free[0]
            told.append(hook_of.get(name, 0))
        elif kind == "out":
            hook_of.pop(event[1], None)
        else:
            for hook, name in enumerate(hook_of, start=1):
                hook_of[name] = hook
    return told
