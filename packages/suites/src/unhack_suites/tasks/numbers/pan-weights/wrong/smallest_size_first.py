"""Flaw: the list starts with the pieces of size 1."""


def pan_weights(load: int, base: int) -> list[int]:
    if load == 0:
        return [0]
    digits = []
    while load:
        digit = load % base
        if digit > base // 2:
            digit -= base
        digits.append(digit)
        load = (load - digit) // base
    return digits
