"""Flaw: builds numbers from a first digit 1 to 9, so 0 is never counted."""


def _up_to(limit: int, step: int, divisor: int) -> int:
    if limit <= 0:
        return 0
    text = str(limit)
    states: dict[tuple[int, int, bool], int] = {}
    for pos, char in enumerate(text):
        top = int(char)
        after: dict[tuple[int, int, bool], int] = {}

        def add(key: tuple[int, int, bool], count: int) -> None:
            after[key] = after.get(key, 0) + count

        for (last, rest, tight), count in states.items():
            for digit in range((top if tight else 9) + 1):
                if abs(digit - last) <= step:
                    add((digit, (rest + digit) % divisor, tight and digit == top), count)
        for digit in range(1, (top if pos == 0 else 9) + 1):
            add((digit, digit % divisor, pos == 0 and digit == top), 1)
        states = after
    return sum(count for (_, rest, _), count in states.items() if rest == 0)


def count_calm(low: int, high: int, step: int, divisor: int) -> int:
    return _up_to(high, step, divisor) - _up_to(low - 1, step, divisor)
