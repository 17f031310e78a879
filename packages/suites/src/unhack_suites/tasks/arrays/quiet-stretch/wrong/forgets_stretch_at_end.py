"""Flaw: a stretch is looked at only when a loud minute ends it."""


def quiet_stretch(levels: list[int], limit: int) -> list[int]:
    best_start, best_length = -1, 0
    start = None
    for i, level in enumerate(levels):
        if level <= limit:
            if start is None:
                start = i
        elif start is not None:
            if i - start >= best_length:
                best_start, best_length = start, i - start
            start = None
    return [best_start, best_length]
