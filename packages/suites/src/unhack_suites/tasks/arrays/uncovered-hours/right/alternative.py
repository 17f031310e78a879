"""Starts with one gap, the whole opening time, and cuts every shift out of the list of gaps."""


def uncovered(opening: int, closing: int, shifts: list[list[int]]) -> list[list[int]]:
    gaps = [[opening, closing]] if opening < closing else []
    for start, end in shifts:
        if start == end:
            continue
        rest = []
        for low, high in gaps:
            rest.append([low, min(high, start)])
            rest.append([max(low, end), high])
        gaps = [gap for gap in rest if gap[0] < gap[1]]
    return gaps
