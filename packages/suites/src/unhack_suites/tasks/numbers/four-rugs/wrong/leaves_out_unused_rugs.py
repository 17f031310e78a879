"""Flaw: sides of 0 are left out, so the list may have fewer than four entries."""

from math import isqrt


def four_rugs(tiles: int) -> list[int]:
    for a in range(isqrt(tiles), -1, -1):
        for b in range(min(a, isqrt(tiles - a * a)), -1, -1):
            for c in range(min(b, isqrt(tiles - a * a - b * b)), -1, -1):
                rest = tiles - a * a - b * b - c * c
                d = isqrt(rest)
                if d > c:
                    break
                if d * d == rest:
                    return [side for side in (a, b, c, d) if side > 0]
    return []
