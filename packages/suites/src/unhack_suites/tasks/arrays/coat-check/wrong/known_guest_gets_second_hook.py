"""Flaw: a guest whose coat hangs already is given another hook."""


def coat_check(hooks: int, events: list[list[str]]) -> list[int]:
    rail: list[str] = [""] * hooks
    told = []
    for event in events:
        if event[0] == "in":
            if "" in rail:
                slot = rail.index("")
                rail[slot] = event[1]
                told.append(slot + 1)
            else:
                told.append(0)
        elif event[0] == "out":
            if event[1] in rail:
                rail[rail.index(event[1])] = ""
        else:
            coats = [name for name in rail if name]
            rail = coats + [""] * (hooks - len(coats))
    return told
