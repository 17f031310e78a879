"""Flaw: ignores that the last bead lies next to the first."""
from itertools import groupby

for _ in range(int(input())):
    beads = input().strip()
    runs = [(-len(list(group)), colour) for colour, group in groupby(beads)]
    negative, colour = min(runs)
    print(colour, -negative)
