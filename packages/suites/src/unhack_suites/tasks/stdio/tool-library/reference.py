"""Counts the pieces for each (member, tool) pair, then adds them up by member."""
import sys
from collections import Counter


def main() -> None:
    lines = sys.stdin.read().splitlines()
    held: Counter[tuple[str, str]] = Counter()
    for line in lines[1 : 1 + int(lines[0])]:
        member, action, tool = line.split()
        if action == "out":
            held[member, tool] += 1
        elif held[member, tool] > 0:
            held[member, tool] -= 1
    totals: Counter[str] = Counter()
    for (member, _), pieces in held.items():
        totals[member] += pieces
    rows = sorted((-total, member) for member, total in totals.items() if total > 0)
    for negative_total, member in rows:
        print(member, -negative_total)
    if not rows:
        print("none")


if __name__ == "__main__":
    main()
