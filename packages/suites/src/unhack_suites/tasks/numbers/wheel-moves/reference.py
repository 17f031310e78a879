"""Wheel k has moved once for every multiple of 10^k passed on the unwrapped count."""


def wheel_moves(start: int, end: int, wheels: int) -> int:
    if end < start:
        end += 10**wheels
    return sum(end // 10**k - start // 10**k for k in range(wheels))
