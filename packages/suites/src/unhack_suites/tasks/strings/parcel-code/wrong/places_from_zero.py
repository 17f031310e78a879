"""Flaw: the places are counted from 0, so the first digit never matters."""

import re


def read_parcel_code(code: str) -> dict[str, object]:
    match = re.fullmatch(r"([A-Z]{2})([0-9]{1,6})-([A-Z])", code)
    if not match:
        raise ValueError("bad code")
    depot, digits, check = match.groups()
    total = sum(ord(c) - 64 for c in depot) + sum(i * int(d) for i, d in enumerate(digits))
    if ord(check) - 65 != total % 26:
        raise ValueError("bad check letter")
    return {"depot": depot, "number": int(digits)}
