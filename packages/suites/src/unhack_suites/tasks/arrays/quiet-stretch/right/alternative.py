"""Cuts the minutes at the loud ones; the stretches lie between neighbouring cuts."""


def quiet_stretch(levels: list[int], limit: int) -> list[int]:
    loud = [-1] + [i for i, level in enumerate(levels) if level > limit] + [len(levels)]
    stretches = [(after - before - 1, before + 1) for before, after in zip(loud, loud[1:])]
    length, start = max(stretches)
    return [start, length] if length else [-1, 0]
