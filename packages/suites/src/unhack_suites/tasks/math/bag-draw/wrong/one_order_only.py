"""Flaw: for `exactly one` counts only the order in which that marble comes first."""
import re
from fractions import Fraction
from math import comb


def solve(prompt: str) -> str:
    story = prompt[prompt.rindex("A bag holds") :]
    marbles = {colour: int(count) for count, colour in re.findall(r"(\d+) (red|blue|white)", story)}
    drawn = int(re.search(r"takes (\d+) marbles", story).group(1))
    event = re.search(r"probability that ([^?]+)\?", story).group(1)
    total = sum(marbles.values())
    every = comb(total, drawn)
    hits = marbles.get(event.split()[-1], 0)
    if event.startswith("exactly one"):
        share = Fraction(hits, total)
        for step in range(drawn - 1):
            share *= Fraction(total - hits - step, total - 1 - step)
    elif event.startswith("none"):
        share = Fraction(comb(total - hits, drawn), every)
    elif event.startswith("at least one"):
        share = 1 - Fraction(comb(total - hits, drawn), every)
    else:
        share = Fraction(sum(comb(count, drawn) for count in marbles.values()), every)
    return rf"\boxed{{\frac{{{share.numerator}}}{{{share.denominator}}}}}"
