"""Flaw: always divides by 2 * radius + 1, also at the ends and over gaps."""


def smooth_readings(readings: list[float | None], radius: int) -> list[float | None]:
    smoothed: list[float | None] = []
    for i in range(len(readings)):
        window = readings[max(0, i - radius) : i + radius + 1]
        present = [value for value in window if value is not None]
        smoothed.append(sum(present) / (2 * radius + 1) if present else None)
    return smoothed
