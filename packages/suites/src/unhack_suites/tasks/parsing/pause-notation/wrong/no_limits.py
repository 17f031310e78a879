"""Flaw: accepts later parts of any size, such as 75 minutes after an hour."""

import re


def pause_seconds(text: str) -> int:
    number = r"(0|[1-9][0-9]*)"
    match = re.fullmatch(f"(?:{number}d)?(?:{number}h)?(?:{number}m)?(?:{number}s)?", text)
    if not match or not text:
        raise ValueError(text)
    days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
    return ((days * 24 + hours) * 60 + minutes) * 60 + seconds
