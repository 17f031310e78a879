"""The two chessboard colours never meet; each is solved by all press sets in Gray code order."""


def _solve_colour(lamps: list[list[int]], colour: int) -> list[list[int]] | None:
    rows, cols = len(lamps), len(lamps[0])
    cells = [(r, c) for r in range(rows) for c in range(cols) if (r + c) % 2 == colour]
    number = {cell: i for i, cell in enumerate(cells)}
    effects = []
    for r, c in cells:
        touched = [(r, c)] + [(r + dr, c + dc) for dr in (-1, 1) for dc in (-1, 1)]
        effects.append(sum(1 << number[cell] for cell in touched if cell in number))
    state = sum(lamps[r][c] << i for i, (r, c) in enumerate(cells))
    pressed = 0
    for step in range(1, 2 ** len(cells) + 1):
        if state == 0:
            return [[r, c] for i, (r, c) in enumerate(cells) if pressed >> i & 1]
        flip = (step & -step).bit_length() - 1
        if flip < len(cells):
            pressed ^= 1 << flip
            state ^= effects[flip]
    return None


def lamp_presses(lamps: list[list[int]]) -> list[list[int]] | None:
    even = _solve_colour(lamps, 0)
    odd = _solve_colour(lamps, 1)
    return None if even is None or odd is None else even + odd
