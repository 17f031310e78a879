"""Flaw: `isdigit` and `isupper` also accept digits and letters outside ASCII."""


def read_parcel_code(code: str) -> dict[str, object]:
    head, dash, check = code.partition("-")
    depot, digits = head[:2], head[2:]
    if not dash or len(depot) != 2 or len(check) != 1:
        raise ValueError("bad shape")
    if not (depot.isalpha() and depot.isupper() and check.isupper()):
        raise ValueError("bad letters")
    if not digits.isdigit() or len(digits) > 6:
        raise ValueError("bad digits")
    total = sum(ord(c) - 64 for c in depot)
    total += sum(i * int(d) for i, d in enumerate(digits, 1))
    if ord(check) - 65 != total % 26:
        raise ValueError("bad check letter")
    return {"depot": depot, "number": int(digits)}
