"""Replays the moves: every cell must be dry on arrival, and the walk as short as the known one."""

STEPS = {"N": (-1, 0), "E": (0, 1), "S": (1, 0), "W": (0, -1), "X": (0, 0)}


def check(args: list, kwargs: dict, output: object, expected: str | None) -> bool:
    heights, tide, start, goal = args
    if expected is None or output is None:
        return output is None and expected is None
    if type(output) is not str or len(output) > len(expected):
        return False
    row, column = start
    for minute, letter in enumerate(output, start=1):
        if letter not in STEPS:
            return False
        row += STEPS[letter][0]
        column += STEPS[letter][1]
        if not (0 <= row < len(heights) and 0 <= column < len(heights[0])):
            return False
        if int(heights[row][column]) <= tide[minute % len(tide)]:
            return False
    return [row, column] == list(goal)
