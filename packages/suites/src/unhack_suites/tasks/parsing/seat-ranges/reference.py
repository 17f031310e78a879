"""Splits at commas and keeps the current row; a dict keeps the first place of each seat."""


def expand_seats(spec: str) -> list[str]:
    seats: dict[str, None] = {}
    row = ""
    if not spec.strip():
        return []
    for item in spec.split(","):
        item = item.strip()
        if item[0].isalpha():
            row, item = item[0], item[1:]
        start, _, end = item.partition("-")
        low = int(start)
        high = int(end or start)
        step = 1 if high >= low else -1
        for number in range(low, high + step, step):
            seats[f"{row}{number}"] = None
    return list(seats)
