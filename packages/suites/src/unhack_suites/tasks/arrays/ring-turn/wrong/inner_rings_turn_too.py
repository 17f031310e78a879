"""Flaw: all rings are turned, not only the border."""


def turn_ring(grid: list[list[int]], steps: int) -> list[list[int]]:
    rows, cols = len(grid), len(grid[0])
    out = [row[:] for row in grid]
    for d in range((min(rows, cols) + 1) // 2):
        top, bottom, left, right = d, rows - 1 - d, d, cols - 1 - d
        ring = [(top, c) for c in range(left, right + 1)]
        ring += [(r, right) for r in range(top + 1, bottom + 1)]
        if top < bottom and left < right:
            ring += [(bottom, c) for c in range(right - 1, left - 1, -1)]
            ring += [(r, left) for r in range(bottom - 1, top, -1)]
        for i, (r, c) in enumerate(ring):
            nr, nc = ring[(i + steps) % len(ring)]
            out[nr][nc] = grid[r][c]
    return out
