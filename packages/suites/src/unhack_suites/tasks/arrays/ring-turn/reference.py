"""Lists the coordinates of the ring once and copies the stones along that list."""


def _ring(rows: int, cols: int) -> list[tuple[int, int]]:
    if rows == 1:
        return [(0, c) for c in range(cols)]
    if cols == 1:
        return [(r, 0) for r in range(rows)]
    top = [(0, c) for c in range(cols - 1)]
    right = [(r, cols - 1) for r in range(rows - 1)]
    bottom = [(rows - 1, c) for c in range(cols - 1, 0, -1)]
    left = [(r, 0) for r in range(rows - 1, 0, -1)]
    return top + right + bottom + left


def turn_ring(grid: list[list[int]], steps: int) -> list[list[int]]:
    cells = _ring(len(grid), len(grid[0]))
    turned = [row[:] for row in grid]
    for place, (r, c) in enumerate(cells):
        new_r, new_c = cells[(place + steps) % len(cells)]
        turned[new_r][new_c] = grid[r][c]
    return turned
