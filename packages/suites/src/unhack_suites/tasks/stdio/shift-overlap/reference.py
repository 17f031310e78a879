"""Cuts each shift at midnight into one or two pieces and intersects all pairs of pieces."""
import sys

DAY = 24 * 60


def pieces(shift: str) -> list[tuple[int, int]]:
    start, end = (int(clock[:2]) * 60 + int(clock[3:]) for clock in shift.split("-"))
    if start < end:
        return [(start, end)]
    return [(start, DAY), (0, end)]


def main() -> None:
    lines = sys.stdin.read().splitlines()
    for line in lines[1 : 1 + int(lines[0])]:
        first, second = line.split()
        total = 0
        for a, b in pieces(first):
            for c, d in pieces(second):
                total += max(0, min(b, d) - max(a, c))
        print(total)


if __name__ == "__main__":
    main()
