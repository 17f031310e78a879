"""Flaw: an item without a letter takes the row of the very first item."""


def expand_seats(spec: str) -> list[str]:
    seats: list[str] = []
    items = [part.strip() for part in spec.split(",") if part.strip()]
    for item in items:
        row = items[0][0]
        if item[0].isalpha():
            row, item = item[0], item[1:]
        start, _, end = item.partition("-")
        low, high = int(start), int(end or start)
        step = 1 if low <= high else -1
        for number in range(low, high + step, step):
            seat = f"{row}{number}"
            if seat not in seats:
                seats.append(seat)
    return seats
