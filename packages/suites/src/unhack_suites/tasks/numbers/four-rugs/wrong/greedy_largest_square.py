"""Flaw: always takes the largest square that fits, which may leave a rest after four rugs."""

from math import isqrt


def four_rugs(tiles: int) -> list[int]:
    sides = []
    for _ in range(4):
        side = isqrt(tiles)
        sides.append(side)
        tiles -= side * side
    return sides
