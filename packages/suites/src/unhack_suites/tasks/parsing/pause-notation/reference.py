"""One regular expression for the shape, then the limits of the later parts."""

import re

SHAPE = re.compile(r"(?:({0})d)?(?:({0})h)?(?:({0})m)?(?:({0})s)?".format("0|[1-9][0-9]*"))
SECONDS = (86400, 3600, 60, 1)
LIMITS = (None, 24, 60, 60)


def pause_seconds(text: str) -> int:
    match = SHAPE.fullmatch(text)
    if match is None or text == "":
        raise ValueError("not a pause")
    total = 0
    first = True
    for digits, seconds, limit in zip(match.groups(), SECONDS, LIMITS):
        if digits is None:
            continue
        number = int(digits)
        if not first and limit is not None and number >= limit:
            raise ValueError("part too large")
        total += number * seconds
        first = False
    return total
