"""Flaw: a range that runs downwards gives no seats at all."""


def expand_seats(spec: str) -> list[str]:
    seats: list[str] = []
    row = ""
    for item in (part.strip() for part in spec.split(",") if part.strip()):
        if item[0].isalpha():
            row, item = item[0], item[1:]
        start, _, end = item.partition("-")
        for number in range(int(start), int(end or start) + 1):
            seat = f"{row}{number}"
            if seat not in seats:
                seats.append(seat)
    return seats
