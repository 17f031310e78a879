"""Flaw: a missing reading stays missing even if it has neighbours."""


def smooth_readings(readings: list[float | None], radius: int) -> list[float | None]:
    smoothed: list[float | None] = []
    for i, centre in enumerate(readings):
        if centre is None:
            smoothed.append(None)
            continue
        window = readings[max(0, i - radius) : i + radius + 1]
        present = [value for value in window if value is not None]
        smoothed.append(sum(present) / len(present))
    return smoothed
