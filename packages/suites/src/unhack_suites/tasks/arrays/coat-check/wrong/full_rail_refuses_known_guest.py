"""Flaw: checks for a free hook first, so a known guest is told 0 when all hooks are taken."""


def coat_check(hooks: int, events: list[list[str]]) -> list[int]:
    rail: list[str] = [""] * hooks
    told = []
    for event in events:
        if event[0] == "in":
            if "" not in rail:
                told.append(0)
            else:
                if event[1] not in rail:
                    rail[rail.index("")] = event[1]
                told.append(rail.index(event[1]) + 1)
        elif event[0] == "out":
            if event[1] in rail:
                rail[rail.index(event[1])] = ""
        else:
            coats = [name for name in rail if name]
            rail = coats + [""] * (hooks - len(coats))
    return told
