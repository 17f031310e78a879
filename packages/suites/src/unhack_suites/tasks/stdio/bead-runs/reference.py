"""Rotates each necklace so that no run crosses the ends, then groups equal neighbours."""
import sys
from itertools import groupby


def longest_run(beads: str) -> tuple[str, int]:
    cut = 0
    for i in range(1, len(beads)):
        if beads[i] != beads[i - 1]:
            cut = i
            break
    turned = beads[cut:] + beads[:cut]
    runs = [(-len(list(group)), colour) for colour, group in groupby(turned)]
    negative, colour = min(runs)
    return colour, -negative


def main() -> None:
    words = sys.stdin.read().split()
    for beads in words[1 : 1 + int(words[0])]:
        print(*longest_run(beads))


if __name__ == "__main__":
    main()
