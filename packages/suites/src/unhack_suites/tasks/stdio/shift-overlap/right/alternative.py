"""Lists the minutes of each shift as a set, walking around the clock, and intersects the sets."""


def minutes(shift: str) -> set[int]:
    start, end = shift.split("-")
    hour, minute = map(int, start.split(":"))
    now = 60 * hour + minute
    hour, minute = map(int, end.split(":"))
    length = (60 * hour + minute - now) % 1440 or 1440
    return {(now + step) % 1440 for step in range(length)}


for _ in range(int(input())):
    one, two = input().split()
    print(len(minutes(one) & minutes(two)))
