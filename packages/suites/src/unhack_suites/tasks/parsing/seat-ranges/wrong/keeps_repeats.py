"""Flaw: lists a seat again each time it comes up."""


def expand_seats(spec: str) -> list[str]:
    seats: list[str] = []
    row = ""
    for item in (part.strip() for part in spec.split(",") if part.strip()):
        if item[0].isalpha():
            row, item = item[0], item[1:]
        start, _, end = item.partition("-")
        low, high = int(start), int(end or start)
        step = 1 if low <= high else -1
        seats.extend(f"{row}{number}" for number in range(low, high + step, step))
    return seats
