"""Accepts any four sides in falling order whose squares add up to the number of tiles."""


def check(args: list, kwargs: dict, output: object, expected: object) -> bool:
    if type(output) is not list or len(output) != 4:
        return False
    if any(type(side) is not int or not 0 <= side <= 200 for side in output):
        return False
    falling = all(left >= right for left, right in zip(output, output[1:]))
    return falling and sum(side * side for side in output) == args[0]
