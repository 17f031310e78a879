"""Flaw: counts the last minute of each shift as worked, so overlaps come out one too long."""


def minutes(shift: str) -> set[int]:
    start, end = shift.split("-")
    h1, m1 = map(int, start.split(":"))
    h2, m2 = map(int, end.split(":"))
    a, b = h1 * 60 + m1, h2 * 60 + m2
    if a < b:
        return set(range(a, b + 1))
    return set(range(a, 1440)) | set(range(0, b + 1))


for _ in range(int(input())):
    one, two = input().split()
    print(len(minutes(one) & minutes(two)))
