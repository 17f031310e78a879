"""Flaw: one shared set of seen rooms, so joining an earlier trail is taken for a loop."""


def marble_fates(chutes: list[int]) -> list[int]:
    seen: set[int] = set()
    result = [0, 0, 0]
    for start in range(len(chutes)):
        room = start
        while room >= 0 and room not in seen:
            seen.add(room)
            room = chutes[room]
        if room == -1:
            result[0] += 1
        elif room == -2:
            result[1] += 1
        else:
            result[2] += 1
    return result
