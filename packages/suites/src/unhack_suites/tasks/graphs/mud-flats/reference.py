"""Breadth-first search over (cell, phase of the tide) with back pointers."""

from collections import deque

STEPS = {"N": (-1, 0), "E": (0, 1), "S": (1, 0), "W": (0, -1), "X": (0, 0)}

State = tuple[int, int, int]


def cross_flats(
    heights: list[str], tide: list[int], start: list[int], goal: list[int]
) -> str | None:
    rows, columns, period = len(heights), len(heights[0]), len(tide)
    first: State = (start[0], start[1], 0)
    came: dict[State, tuple[State, str] | None] = {first: None}
    queue = deque([first])
    while queue:
        state = queue.popleft()
        row, column, phase = state
        if [row, column] == goal:
            moves: list[str] = []
            while (link := came[state]) is not None:
                state, letter = link
                moves.append(letter)
            return "".join(reversed(moves))
        after = (phase + 1) % period
        for letter, (down, right) in STEPS.items():
            r, c = row + down, column + right
            if not (0 <= r < rows and 0 <= c < columns):
                continue
            if int(heights[r][c]) > tide[after] and (r, c, after) not in came:
                came[r, c, after] = (state, letter)
                queue.append((r, c, after))
    return None
