"""Flaw: without `run > 0` the comparison also accepts empty runs at loud minutes."""


def quiet_stretch(levels: list[int], limit: int) -> list[int]:
    best = [-1, 0]
    run = 0
    for i, level in enumerate(levels):
        run = run + 1 if level <= limit else 0
        if run >= best[1]:
            best = [i - run + 1, run]
    return best
