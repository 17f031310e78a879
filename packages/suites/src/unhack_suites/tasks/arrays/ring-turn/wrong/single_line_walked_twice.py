"""Flaw: in a grid with one row or column the ring goes there and back, so cells occur twice."""


def turn_ring(grid: list[list[int]], steps: int) -> list[list[int]]:
    rows, cols = len(grid), len(grid[0])
    ring = [(0, c) for c in range(cols)]
    ring += [(r, cols - 1) for r in range(1, rows)]
    ring += [(rows - 1, c) for c in range(cols - 2, -1, -1)]
    ring += [(r, 0) for r in range(rows - 2, 0, -1)]
    out = [row[:] for row in grid]
    for i, (r, c) in enumerate(ring):
        nr, nc = ring[(i + steps) % len(ring)]
        out[nr][nc] = grid[r][c]
    return out
