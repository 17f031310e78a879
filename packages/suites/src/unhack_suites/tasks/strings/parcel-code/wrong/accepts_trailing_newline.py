"""Flaw: `$` also matches before a final newline, so `AB15-O\\n` is accepted."""

import re


def read_parcel_code(code: str) -> dict[str, object]:
    match = re.match(r"^([A-Z]{2})([0-9]{1,6})-([A-Z])$", code)
    if not match:
        raise ValueError("bad code")
    depot, digits, check = match.groups()
    total = sum(ord(c) - 64 for c in depot)
    total += sum((i + 1) * int(d) for i, d in enumerate(digits))
    if chr(65 + total % 26) != check:
        raise ValueError("bad check letter")
    return {"depot": depot, "number": int(digits)}
