"""Flaw: positive steps move the stones anticlockwise."""


def turn_ring(grid: list[list[int]], steps: int) -> list[list[int]]:
    rows, cols = len(grid), len(grid[0])
    if rows == 1 or cols == 1:
        ring = [(r, c) for r in range(rows) for c in range(cols)]
    else:
        ring = [(0, c) for c in range(cols)] + [(r, cols - 1) for r in range(1, rows)]
        ring += [(rows - 1, c) for c in range(cols - 2, -1, -1)]
        ring += [(r, 0) for r in range(rows - 2, 0, -1)]
    out = [row[:] for row in grid]
    for i, (r, c) in enumerate(ring):
        from_r, from_c = ring[(i + steps) % len(ring)]
        out[r][c] = grid[from_r][from_c]
    return out
