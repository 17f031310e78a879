"""Flaw: off by one at the far end of downward ranges."""


def expand_seats(spec: str) -> list[str]:
    seats: list[str] = []
    row = ""
    for item in (part.strip() for part in spec.split(",") if part.strip()):
        if item[0].isalpha():
            row, item = item[0], item[1:]
        start, _, end = item.partition("-")
        low, high = int(start), int(end or start)
        numbers = range(low, high + 1) if low <= high else range(low, high, -1)
        for number in numbers:
            seat = f"{row}{number}"
            if seat not in seats:
                seats.append(seat)
    return seats
