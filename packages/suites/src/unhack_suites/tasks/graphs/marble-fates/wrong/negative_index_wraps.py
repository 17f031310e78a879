"""Flaw: lets -1 and -2 index the list from its end instead of stopping there."""


def marble_fates(chutes: list[int]) -> list[int]:
    result = [0, 0, 0]
    for start in range(len(chutes)):
        room = start
        for _ in range(len(chutes)):
            room = chutes[room]
        if room == -1:
            result[0] += 1
        elif room == -2:
            result[1] += 1
        else:
            result[2] += 1
    return result
