"""Flaw: writes into the list it reads from, so later windows see smoothed values."""


def smooth_readings(readings: list[float | None], radius: int) -> list[float | None]:
    for i in range(len(readings)):
        window = readings[max(0, i - radius) : i + radius + 1]
        present = [value for value in window if value is not None]
        readings[i] = sum(present) / len(present) if present else None
    return readings
