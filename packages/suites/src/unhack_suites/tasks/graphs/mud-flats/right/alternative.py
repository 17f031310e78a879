"""Grows the set of cells possible at each minute, then walks back from the goal."""


def cross_flats(
    heights: list[str], tide: list[int], start: list[int], goal: list[int]
) -> str | None:
    dry_at = [
        {
            (r, c)
            for r, line in enumerate(heights)
            for c, digit in enumerate(line)
            if int(digit) > level
        }
        for level in tide
    ]
    target = (goal[0], goal[1])
    history = [{(start[0], start[1])}]
    longest = len(heights) * len(heights[0]) * len(tide)
    while target not in history[-1]:
        if not history[-1] or len(history) > longest:
            return None
        spread = set()
        for r, c in history[-1]:
            spread.update(((r, c), (r - 1, c), (r + 1, c), (r, c - 1), (r, c + 1)))
        history.append(spread & dry_at[len(history) % len(tide)])
    moves = ""
    r, c = target
    for cells in reversed(history[:-1]):
        origins = [
            ("X", r, c), ("S", r - 1, c), ("N", r + 1, c), ("E", r, c - 1), ("W", r, c + 1),
        ]
        letter, r, c = next(origin for origin in origins if origin[1:] in cells)
        moves = letter + moves
    return moves
