r"""Flaw: uses \d and $, so other digits and a final line break slip through."""

import re

PATTERN = re.compile(r"^(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?$")


def pause_seconds(text: str) -> int:
    match = PATTERN.match(text)
    if not match or not any(match.groups()):
        raise ValueError("not a pause")
    total = 0
    first = True
    for part, seconds, limit in zip(match.groups(), (86400, 3600, 60, 1), (0, 24, 60, 60)):
        if part is None:
            continue
        if len(part) > 1 and part[0] == "0":
            raise ValueError("leading zero")
        if not first and int(part) >= limit:
            raise ValueError("part too large")
        total += int(part) * seconds
        first = False
    return total
