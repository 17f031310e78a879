"""Flaw: applies the limits of hours, minutes and seconds to the first part as well."""

import re


def pause_seconds(text: str) -> int:
    number = r"(0|[1-9][0-9]*)"
    match = re.fullmatch(f"(?:{number}d)?(?:{number}h)?(?:{number}m)?(?:{number}s)?", text)
    if not match or not text:
        raise ValueError(text)
    days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
    if hours >= 24 or minutes >= 60 or seconds >= 60:
        raise ValueError(text)
    return ((days * 24 + hours) * 60 + minutes) * 60 + seconds
