"""Flaw: goes through the lamps in order and presses each one that is on at that moment."""


def lamp_presses(lamps: list[list[int]]) -> list[list[int]] | None:
    state = [row[:] for row in lamps]
    rows, cols = len(state), len(state[0])
    presses = []
    for r in range(rows):
        for c in range(cols):
            if state[r][c]:
                presses.append([r, c])
                for dr, dc in ((0, 0), (-1, -1), (-1, 1), (1, -1), (1, 1)):
                    if 0 <= r + dr < rows and 0 <= c + dc < cols:
                        state[r + dr][c + dc] ^= 1
    if any(any(row) for row in state):
        return None
    return presses
