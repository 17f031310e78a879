"""Flaw: `i - radius` may be negative, and then the slice starts from the end of the list."""


def smooth_readings(readings: list[float | None], radius: int) -> list[float | None]:
    smoothed: list[float | None] = []
    for i in range(len(readings)):
        present = [v for v in readings[i - radius : i + radius + 1] if v is not None]
        smoothed.append(sum(present) / len(present) if present else None)
    return smoothed
