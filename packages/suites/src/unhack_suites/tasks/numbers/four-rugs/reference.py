"""Nested search from the largest side down; the last side comes from an integer square root."""

from math import isqrt


def four_rugs(tiles: int) -> list[int]:
    for a in range(isqrt(tiles), -1, -1):
        rest_a = tiles - a * a
        for b in range(min(a, isqrt(rest_a)), -1, -1):
            rest_b = rest_a - b * b
            if rest_b > 2 * b * b:
                break
            for c in range(min(b, isqrt(rest_b)), -1, -1):
                rest_c = rest_b - c * c
                d = isqrt(rest_c)
                if d > c:
                    break
                if d * d == rest_c:
                    return [a, b, c, d]
    raise AssertionError("every number is a sum of four squares")
