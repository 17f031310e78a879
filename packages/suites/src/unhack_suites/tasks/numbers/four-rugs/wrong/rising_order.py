"""Flaw: the sides are found in rising order and returned that way."""

from math import isqrt


def four_rugs(tiles: int) -> list[int]:
    top = isqrt(tiles)
    for a in range(top + 1):
        for b in range(a, top + 1):
            if a * a + 3 * b * b > tiles:
                break
            for c in range(b, top + 1):
                rest = tiles - a * a - b * b - c * c
                if rest < c * c:
                    break
                d = isqrt(rest)
                if d * d == rest:
                    return [a, b, c, d]
    return []
