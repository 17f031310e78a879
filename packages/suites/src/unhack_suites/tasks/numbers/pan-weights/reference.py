"""Repeated division with the remainder moved into the symmetric range."""


def pan_weights(load: int, base: int) -> list[int]:
    half = base // 2
    digits = []
    while load != 0:
        digit = (load + half) % base - half
        digits.append(digit)
        load = (load - digit) // base
    return digits[::-1] or [0]
