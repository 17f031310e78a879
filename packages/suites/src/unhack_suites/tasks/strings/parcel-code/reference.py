"""One full-match regular expression, then the check sum."""

import re

SHAPE = re.compile(r"([A-Z]{2})([0-9]{1,6})-([A-Z])")


def read_parcel_code(code: str) -> dict[str, object]:
    match = SHAPE.fullmatch(code)
    if match is None:
        raise ValueError("not the shape of a parcel code")
    depot, digits, check = match.groups()
    total = sum(ord(letter) - ord("A") + 1 for letter in depot)
    total += sum(place * int(digit) for place, digit in enumerate(digits, start=1))
    if ord(check) - ord("A") != total % 26:
        raise ValueError("wrong check letter")
    return {"depot": depot, "number": int(digits)}
