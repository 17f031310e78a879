"""Flaw: removes repeats with a set and sorts, which loses the written order."""


def expand_seats(spec: str) -> list[str]:
    seats: set[tuple[str, int]] = set()
    row = ""
    for item in (part.strip() for part in spec.split(",") if part.strip()):
        if item[0].isalpha():
            row, item = item[0], item[1:]
        start, _, end = item.partition("-")
        ends = sorted((int(start), int(end or start)))
        seats.update((row, number) for number in range(ends[0], ends[1] + 1))
    return [f"{row}{number}" for row, number in sorted(seats)]
