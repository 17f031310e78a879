"""Builds every window as a slice and averages what is there."""


def smooth_readings(readings: list[float | None], radius: int) -> list[float | None]:
    smoothed: list[float | None] = []
    for i in range(len(readings)):
        window = readings[max(0, i - radius) : i + radius + 1]
        present = [value for value in window if value is not None]
        smoothed.append(sum(present) / len(present) if present else None)
    return smoothed
