"""Flaw: a shift whose two times are equal counts as empty instead of as the whole day."""


def minutes(shift: str) -> set[int]:
    start, end = shift.split("-")
    h1, m1 = map(int, start.split(":"))
    h2, m2 = map(int, end.split(":"))
    now = h1 * 60 + m1
    stop = h2 * 60 + m2
    marked = set()
    while now != stop:
        marked.add(now)
        now = (now + 1) % 1440
    return marked


for _ in range(int(input())):
    one, two = input().split()
    print(len(minutes(one) & minutes(two)))
