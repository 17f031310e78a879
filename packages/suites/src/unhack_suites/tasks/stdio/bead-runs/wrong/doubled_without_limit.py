"""Flaw: doubles the string but does not cap the run, so a one-colour necklace counts twice."""
from itertools import groupby

for _ in range(int(input())):
    beads = input().strip()
    runs = [(-len(list(group)), colour) for colour, group in groupby(beads + beads)]
    negative, colour = min(runs)
    print(colour, -negative)
