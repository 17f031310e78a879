"""Accepts every set of presses that turns all lamps off, or None where that is impossible."""


def check(args: list, kwargs: dict, output: object, expected: object) -> bool:
    if expected is None or output is None:
        return expected is None and output is None
    if type(output) is not list:
        return False
    state = [list(row) for row in args[0]]
    rows, cols = len(state), len(state[0])
    pressed: set[tuple[int, int]] = set()
    for press in output:
        if type(press) is not list or len(press) != 2:
            return False
        r, c = press
        if type(r) is not int or type(c) is not int or not (0 <= r < rows and 0 <= c < cols):
            return False
        if (r, c) in pressed:
            return False
        pressed.add((r, c))
        for y, x in ((r, c), (r - 1, c - 1), (r - 1, c + 1), (r + 1, c - 1), (r + 1, c + 1)):
            if 0 <= y < rows and 0 <= x < cols:
                state[y][x] ^= 1
    return not any(any(row) for row in state)
