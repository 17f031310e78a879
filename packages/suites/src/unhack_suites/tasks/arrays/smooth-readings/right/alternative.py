"""Prefix sums and prefix counts; every window is a difference of two entries."""

from itertools import accumulate


def smooth_readings(readings: list[float | None], radius: int) -> list[float | None]:
    size = len(readings)
    sums = [0.0, *accumulate(0.0 if value is None else value for value in readings)]
    counts = [0, *accumulate(int(value is not None) for value in readings)]
    smoothed: list[float | None] = []
    for i in range(size):
        start, stop = max(0, i - radius), min(size, i + radius + 1)
        count = counts[stop] - counts[start]
        smoothed.append((sums[stop] - sums[start]) / count if count else None)
    return smoothed
