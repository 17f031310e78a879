"""Flaw: treats a shift that runs past midnight as if it had no length."""


def span(shift: str) -> tuple[int, int]:
    start, end = shift.split("-")
    h1, m1 = map(int, start.split(":"))
    h2, m2 = map(int, end.split(":"))
    return h1 * 60 + m1, h2 * 60 + m2


for _ in range(int(input())):
    first, second = input().split()
    a, b = span(first)
    c, d = span(second)
    print(max(0, min(b, d) - max(a, c)))
