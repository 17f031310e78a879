"""Flaw: trusts the order of the list."""


def uncovered(opening: int, closing: int, shifts: list[list[int]]) -> list[list[int]]:
    gaps = []
    now = opening
    for start, end in shifts:
        start, end = max(start, opening), min(end, closing)
        if start >= end:
            continue
        if start > now:
            gaps.append([now, start])
        now = max(now, end)
    if now < closing:
        gaps.append([now, closing])
    return gaps
