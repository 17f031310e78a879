"""Flaw: collects number-unit pairs with findall, so order, repeats and junk go unnoticed."""

import re

SECONDS = {"d": 86400, "h": 3600, "m": 60, "s": 1}


def pause_seconds(text: str) -> int:
    parts = re.findall(r"(\d+)([dhms])", text)
    if not parts:
        raise ValueError("no parts")
    for position, (number, unit) in enumerate(parts):
        if position and int(number) >= {"d": 10**9, "h": 24, "m": 60, "s": 60}[unit]:
            raise ValueError("part too large")
    return sum(int(number) * SECONDS[unit] for number, unit in parts)
