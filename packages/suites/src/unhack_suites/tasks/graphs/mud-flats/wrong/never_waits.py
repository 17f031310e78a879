"""Flaw: searches the right states but leaves out the move that stays in place."""

from collections import deque

STEPS = {"N": (-1, 0), "E": (0, 1), "S": (1, 0), "W": (0, -1)}


def cross_flats(
    heights: list[str], tide: list[int], start: list[int], goal: list[int]
) -> str | None:
    seen = {(start[0], start[1], 0)}
    queue = deque([(start[0], start[1], "")])
    while queue:
        row, column, moves = queue.popleft()
        if [row, column] == goal:
            return moves
        phase = (len(moves) + 1) % len(tide)
        for letter, (down, right) in STEPS.items():
            r, c = row + down, column + right
            if 0 <= r < len(heights) and 0 <= c < len(heights[0]) and (r, c, phase) not in seen:
                if int(heights[r][c]) > tide[phase]:
                    seen.add((r, c, phase))
                    queue.append((r, c, moves + letter))
    return None
