"""Follows each marble until a room with a known fate, then fills in the whole trail."""

OUT, STUCK, ROLLING = 0, 1, 2


def marble_fates(chutes: list[int]) -> list[int]:
    fate: list[int | None] = [None] * len(chutes)
    for start in range(len(chutes)):
        trail: list[int] = []
        on_trail: set[int] = set()
        room = start
        while True:
            if room == -1:
                end = OUT
            elif room == -2:
                end = STUCK
            elif fate[room] is not None:
                end = fate[room]
            elif room in on_trail:
                end = ROLLING
            else:
                trail.append(room)
                on_trail.add(room)
                room = chutes[room]
                continue
            break
        for passed in trail:
            fate[passed] = end
    return [fate.count(OUT), fate.count(STUCK), fate.count(ROLLING)]
