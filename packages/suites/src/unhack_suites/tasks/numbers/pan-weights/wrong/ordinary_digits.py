"""Flaw: gives the ordinary digits in the base, with the sign of the load, without borrowing."""


def pan_weights(load: int, base: int) -> list[int]:
    sign = -1 if load < 0 else 1
    load = abs(load)
    digits = []
    while load:
        load, digit = divmod(load, base)
        digits.append(sign * digit)
    return digits[::-1] or [0]
