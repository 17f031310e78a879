"""Flaw: a level equal to the limit is taken for loud."""


def quiet_stretch(levels: list[int], limit: int) -> list[int]:
    best = [-1, 0]
    run = 0
    for i, level in enumerate(levels):
        run = run + 1 if level < limit else 0
        if run > 0 and run >= best[1]:
            best = [i - run + 1, run]
    return best
