"""Peels the border off into a deque, rotates it and puts the rows together again."""

from collections import deque


def turn_ring(grid: list[list[int]], steps: int) -> list[list[int]]:
    if len(grid) == 1:
        only = deque(grid[0])
        only.rotate(steps)
        return [list(only)]
    if len(grid[0]) == 1:
        turned_row = turn_ring([[row[0] for row in grid]], steps)[0]
        return [[stone] for stone in turned_row]
    first, *middle, last = grid
    belt = deque(first)
    belt.extend(row[-1] for row in middle)
    belt.extend(reversed(last))
    belt.extend(row[0] for row in reversed(middle))
    belt.rotate(steps)
    top = [belt.popleft() for _ in first]
    rights = [belt.popleft() for _ in middle]
    bottom = [belt.popleft() for _ in last]
    inner = [[belt.pop(), *row[1:-1], right] for row, right in zip(middle, rights)]
    return [top, *inner, bottom[::-1]]
