"""The rail is a plain list with one slot for each hook, None for a free one."""


def coat_check(hooks: int, events: list[list[str]]) -> list[int]:
    rail: list[str | None] = [None] * hooks
    told: list[int] = []
    for kind, *names in events:
        if kind == "tidy":
            hanging = [name for name in rail if name is not None]
            rail = hanging + [None] * (hooks - len(hanging))
            continue
        name = names[0]
        if kind == "out":
            rail = [None if slot == name else slot for slot in rail]
        elif name in rail:
            told.append(rail.index(name) + 1)
        elif None in rail:
            slot = rail.index(None)
            rail[slot] = name
            told.append(slot + 1)
        else:
            told.append(0)
    return told
