"""Linear scan: a turn counts once the path has come back by `gap` from its last extreme."""


def longest_zigzag(altitudes: list[int], gap: int) -> int:
    if not altitudes:
        return 0
    lowest = highest = altitudes[0]
    direction = 0
    length = 1
    for here in altitudes:
        if direction >= 0 and highest - here >= gap:
            direction = -1
            length += 1
            lowest = here
        elif direction <= 0 and here - lowest >= gap:
            direction = 1
            length += 1
            highest = here
        lowest = min(lowest, here)
        highest = max(highest, here)
    return length
