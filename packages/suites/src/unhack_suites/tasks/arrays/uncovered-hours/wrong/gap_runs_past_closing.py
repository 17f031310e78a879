"""Flaw: a shift after closing time ends the last gap too late."""


def uncovered(opening: int, closing: int, shifts: list[list[int]]) -> list[list[int]]:
    gaps = []
    now = opening
    for start, end in sorted(s for s in shifts if s[0] < s[1]):
        if start > now:
            gaps.append([now, start])
        now = max(now, end)
    if now < closing:
        gaps.append([now, closing])
    return gaps
