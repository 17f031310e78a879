"""Flaw: takes the best single meeting of the two shifts, but they can meet twice a day."""


def span(shift: str) -> tuple[int, int]:
    start, end = shift.split("-")
    h1, m1 = map(int, start.split(":"))
    h2, m2 = map(int, end.split(":"))
    a, b = h1 * 60 + m1, h2 * 60 + m2
    return (a, b) if a < b else (a, b + 1440)


for _ in range(int(input())):
    first, second = input().split()
    a, b = span(first)
    c, d = span(second)
    best = 0
    for offset in (-1440, 0, 1440):
        best = max(best, min(b, d + offset) - max(a, c + offset))
    print(best)
