"""Flaw: takes remainders as in C (towards zero) and corrects them on the upper side only."""

import math


def pan_weights(load: int, base: int) -> list[int]:
    digits = []
    while load != 0:
        digit = int(math.fmod(load, base))
        if digit > base // 2:
            digit -= base
        digits.append(digit)
        load = (load - digit) // base
    return digits[::-1] or [0]
