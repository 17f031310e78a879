"""Flaw: greedy that compares with the last chosen place and never moves it to the extreme."""


def longest_zigzag(altitudes: list[int], gap: int) -> int:
    if not altitudes:
        return 0
    last = altitudes[0]
    direction = 0
    length = 1
    for here in altitudes[1:]:
        if here - last >= gap and direction <= 0:
            length, direction, last = length + 1, 1, here
        elif last - here >= gap and direction >= 0:
            length, direction, last = length + 1, -1, here
    return length
