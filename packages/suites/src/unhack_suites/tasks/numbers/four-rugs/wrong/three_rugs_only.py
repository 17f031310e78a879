"""Flaw: the fourth rug is never used, but some numbers are no sum of three squares."""

from math import isqrt


def four_rugs(tiles: int) -> list[int]:
    for a in range(isqrt(tiles), -1, -1):
        for b in range(min(a, isqrt(tiles - a * a)), -1, -1):
            rest = tiles - a * a - b * b
            c = isqrt(rest)
            if c * c == rest and c <= b:
                return [a, b, c, 0]
    return [0, 0, 0, 0]
