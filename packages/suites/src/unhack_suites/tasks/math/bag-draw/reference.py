"""Counts favourable selections with binomial coefficients."""
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
    colour = event.split()[-1]
    if event.startswith("exactly one"):
        good = marbles[colour] * comb(total - marbles[colour], drawn - 1)
    elif event.startswith("none"):
        good = comb(total - marbles[colour], drawn)
    elif event.startswith("at least one"):
        good = every - comb(total - marbles[colour], drawn)
    else:
        good = sum(comb(count, drawn) for count in marbles.values())
    share = Fraction(good, every)
    text = rf"\frac{{{share.numerator}}}{{{share.denominator}}}"
    if share.denominator == 1:
        text = str(share)
    return f"${good}$ of ${every}$ selections are favourable. \\boxed{{{text}}}"
