"""Flaw: continues from the end of the last shift, though an earlier one may go on longer."""


def uncovered(opening: int, closing: int, shifts: list[list[int]]) -> list[list[int]]:
    gaps = []
    now = opening
    for start, end in sorted(shifts):
        if end <= opening or start >= closing or start == end:
            continue
        if start > now:
            gaps.append([now, start])
        now = end
    if now < closing:
        gaps.append([now, closing])
    return gaps
