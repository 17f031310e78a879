"""Accepts every plan that is complete, respects all waits and has the fewest rounds."""


def check(args: list, kwargs: dict, output: object, expected: list) -> bool:
    steps, needs = args
    if type(output) is not list or len(output) > len(expected):
        return False
    at: dict[str, int] = {}
    for number, names in enumerate(output):
        if type(names) is not list:
            return False
        for name in names:
            if type(name) is not str or name in at:
                return False
            at[name] = number
    if at.keys() != set(steps):
        return False
    return all(at[then] - at[first] >= wait for first, then, wait in needs)
