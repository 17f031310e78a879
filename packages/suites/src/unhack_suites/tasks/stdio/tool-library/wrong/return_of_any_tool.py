"""Flaw: counts by member only, so a mistaken return of another tool lowers the total."""
import sys
from collections import Counter


def main() -> None:
    lines = sys.stdin.read().splitlines()
    totals: Counter[str] = Counter()
    for line in lines[1 : 1 + int(lines[0])]:
        member, action, _tool = line.split()
        if action == "out":
            totals[member] += 1
        elif totals[member] > 0:
            totals[member] -= 1
    rows = sorted((-total, member) for member, total in totals.items() if total > 0)
    for negative_total, member in rows:
        print(member, -negative_total)
    if not rows:
        print("none")


if __name__ == "__main__":
    main()
