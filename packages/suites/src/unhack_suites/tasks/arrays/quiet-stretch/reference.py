"""One pass that counts the quiet minutes up to the present one."""


def quiet_stretch(levels: list[int], limit: int) -> list[int]:
    best_start, best_length = -1, 0
    run = 0
    for minute, level in enumerate(levels):
        run = run + 1 if level <= limit else 0
        if run and run >= best_length:
            best_start, best_length = minute - run + 1, run
    return [best_start, best_length]
