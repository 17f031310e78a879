"""Flaw: counts as rolling only rooms a marble comes back to, so feeders of a loop are lost."""


def marble_fates(chutes: list[int]) -> list[int]:
    result = [0, 0, 0]
    for start in range(len(chutes)):
        room = start
        for _ in range(len(chutes)):
            room = chutes[room]
            if room < 0 or room == start:
                break
        if room == -1:
            result[0] += 1
        elif room == -2:
            result[1] += 1
        elif room == start:
            result[2] += 1
    return result
