"""Digit DP from the left with a loose part (last digit, digit sum) and one tight prefix."""


def _up_to(limit: int, step: int, divisor: int) -> int:
    if limit < 0:
        return 0
    digits = [int(char) for char in str(limit)]
    loose = [[0] * divisor for _ in range(10)]
    tight = True
    total = 0
    for place, top in enumerate(digits):
        following = [[0] * divisor for _ in range(10)]
        for last in range(10):
            for digit in range(max(0, last - step), min(9, last + step) + 1):
                for rest in range(divisor):
                    following[digit][(rest + digit) % divisor] += loose[last][rest]
        if place > 0:
            for digit in range(1, 10):
                following[digit][digit % divisor] += 1
        if tight:
            for digit in range(1 if place == 0 else 0, top):
                if place == 0 or abs(digit - digits[place - 1]) <= step:
                    following[digit][(total + digit) % divisor] += 1
            tight = place == 0 or abs(top - digits[place - 1]) <= step
            total += top
        loose = following
    count = sum(row[0] for row in loose)
    if tight and limit > 0 and total % divisor == 0:
        count += 1
    return count + 1


def count_calm(low: int, high: int, step: int, divisor: int) -> int:
    return _up_to(high, step, divisor) - _up_to(low - 1, step, divisor)
