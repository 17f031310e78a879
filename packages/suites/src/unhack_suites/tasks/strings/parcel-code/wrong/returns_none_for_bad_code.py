"""Flaw: a bad code gives None instead of a ValueError."""

import re


def read_parcel_code(code: str) -> dict[str, object] | None:
    match = re.fullmatch(r"([A-Z]{2})([0-9]{1,6})-([A-Z])", code)
    if not match:
        return None
    depot, digits, check = match.groups()
    total = sum(ord(c) - 64 for c in depot)
    total += sum(i * int(d) for i, d in enumerate(digits, 1))
    if ord(check) - 65 != total % 26:
        return None
    return {"depot": depot, "number": int(digits)}
