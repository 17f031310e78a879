"""Flaw: takes (b + 1) / 2 for the largest digit, which is one piece too many."""


def pan_weights(load: int, base: int) -> list[int]:
    if load < 0:
        return [-digit for digit in pan_weights(-load, base)]
    if load == 0:
        return [0]
    digits = []
    while load > 0:
        load, digit = divmod(load, base)
        if digit > (base + 1) // 2:
            digit -= base
            load += 1
        digits.append(digit)
    return digits[::-1]
