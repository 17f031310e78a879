"""Flaw: the load 0 gives an empty list."""


def pan_weights(load: int, base: int) -> list[int]:
    digits: list[int] = []
    while load:
        digit = load % base
        if digit > base // 2:
            digit -= base
        digits.insert(0, digit)
        load = (load - digit) // base
    return digits
