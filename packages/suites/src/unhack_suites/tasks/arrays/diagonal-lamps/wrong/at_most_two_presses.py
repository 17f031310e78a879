"""Flaw: tries no, one and two presses only and then gives up."""

from itertools import combinations


def lamp_presses(lamps: list[list[int]]) -> list[list[int]] | None:
    rows, cols = len(lamps), len(lamps[0])
    cells = [(r, c) for r in range(rows) for c in range(cols)]
    for count in range(3):
        for group in combinations(cells, count):
            state = [row[:] for row in lamps]
            for r, c in group:
                for dr, dc in ((0, 0), (-1, -1), (-1, 1), (1, -1), (1, 1)):
                    if 0 <= r + dr < rows and 0 <= c + dc < cols:
                        state[r + dr][c + dc] ^= 1
            if not any(map(any, state)):
                return [[r, c] for r, c in group]
    return None
