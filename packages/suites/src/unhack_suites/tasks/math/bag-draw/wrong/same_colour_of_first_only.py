"""Flaw: for `the same colour` counts only the first colour that is named."""
import re
from fractions import Fraction
from math import comb


def solve(prompt: str) -> str:
    story = prompt[prompt.rindex("A bag holds") :]
    marbles = {colour: int(count) for count, colour in re.findall(r"(\d+) (red|blue|white)", story)}
    drawn = int(re.search(r"takes (\d+) marbles", story).group(1))
    event = re.search(r"probability that ([^?]+)\?", story).group(1)
    total = sum(marbles.values())
    hits = marbles.get(event.split()[-1], 0)
    if event.startswith("exactly one"):
        good = hits * comb(total - hits, drawn - 1)
    elif event.startswith("none"):
        good = comb(total - hits, drawn)
    elif event.startswith("at least one"):
        good = comb(total, drawn) - comb(total - hits, drawn)
    else:
        good = comb(next(iter(marbles.values())), drawn)
    share = Fraction(good, comb(total, drawn))
    return rf"\boxed{{\frac{{{share.numerator}}}{{{share.denominator}}}}}"
