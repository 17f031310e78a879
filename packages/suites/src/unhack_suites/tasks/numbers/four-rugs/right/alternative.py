"""Meet in the middle: table of sums of two squares, then two table entries that add up."""

from math import isqrt


def four_rugs(tiles: int) -> list[int]:
    pairs: dict[int, tuple[int, int]] = {}
    for a in range(isqrt(tiles) + 1):
        for b in range(a, isqrt(tiles - a * a) + 1):
            pairs.setdefault(a * a + b * b, (a, b))
    for total, pair in pairs.items():
        other = pairs.get(tiles - total)
        if other is not None:
            return sorted(pair + other, reverse=True)
    raise AssertionError("every number is a sum of four squares")
