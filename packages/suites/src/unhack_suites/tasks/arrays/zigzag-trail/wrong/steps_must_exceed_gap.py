"""Flaw: a step of exactly `gap` is not accepted."""


def longest_zigzag(altitudes: list[int], gap: int) -> int:
    size = len(altitudes)
    up, down = [1] * size, [1] * size
    for i in range(size):
        for j in range(i):
            if altitudes[i] - altitudes[j] > gap:
                up[i] = max(up[i], down[j] + 1)
            if altitudes[j] - altitudes[i] > gap:
                down[i] = max(down[i], up[j] + 1)
    return max(up + down) if size else 0
