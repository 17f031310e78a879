"""Walks the chutes backwards from both kinds of end; what is not reached rolls for ever."""


def marble_fates(chutes: list[int]) -> list[int]:
    feeders: dict[int, list[int]] = {}
    for room, following in enumerate(chutes):
        feeders.setdefault(following, []).append(room)

    def reach(end: int) -> int:
        todo = list(feeders.get(end, []))
        count = 0
        while todo:
            room = todo.pop()
            count += 1
            todo.extend(feeders.get(room, []))
        return count

    out, stuck = reach(-1), reach(-2)
    return [out, stuck, len(chutes) - out - stuck]
