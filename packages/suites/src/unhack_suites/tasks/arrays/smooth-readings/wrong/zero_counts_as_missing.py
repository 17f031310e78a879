"""Flaw: tests readings for truth, so a reading of 0 is treated as missing."""


def smooth_readings(readings: list[float | None], radius: int) -> list[float | None]:
    smoothed: list[float | None] = []
    for i in range(len(readings)):
        lo, hi = max(0, i - radius), min(len(readings), i + radius + 1)
        present = [readings[k] for k in range(lo, hi) if readings[k]]
        smoothed.append(sum(present) / len(present) if present else None)
    return smoothed
