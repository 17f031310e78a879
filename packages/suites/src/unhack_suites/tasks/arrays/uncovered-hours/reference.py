"""Sorts the shifts and sweeps, remembering up to where the time is covered."""


def uncovered(opening: int, closing: int, shifts: list[list[int]]) -> list[list[int]]:
    gaps = []
    covered = opening
    for start, end in sorted(shifts):
        if start >= closing:
            break
        if start > covered and end > start:
            gaps.append([covered, start])
        if end > start:
            covered = max(covered, end)
    if covered < closing:
        gaps.append([covered, closing])
    return gaps
