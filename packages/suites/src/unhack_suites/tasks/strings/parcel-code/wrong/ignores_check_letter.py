"""Flaw: only the shape is tested, the check letter is never computed."""

import re


def read_parcel_code(code: str) -> dict[str, object]:
    match = re.fullmatch(r"([A-Z]{2})([0-9]{1,6})-([A-Z])", code)
    if not match:
        raise ValueError("bad code")
    return {"depot": match.group(1), "number": int(match.group(2))}
