"""Flaw: treats the draws as independent, as if each marble were put back (never right)."""
import re
from fractions import Fraction


def solve(prompt: str) -> str:
    story = prompt[prompt.rindex("A bag holds") :]
    marbles = {colour: int(count) for count, colour in re.findall(r"(\d+) (red|blue|white)", story)}
    drawn = int(re.search(r"takes (\d+) marbles", story).group(1))
    event = re.search(r"probability that ([^?]+)\?", story).group(1)
    total = sum(marbles.values())
    hit = Fraction(marbles.get(event.split()[-1], 0), total)
    if event.startswith("exactly one"):
        share = drawn * hit * (1 - hit) ** (drawn - 1)
    elif event.startswith("none"):
        share = (1 - hit) ** drawn
    elif event.startswith("at least one"):
        share = 1 - (1 - hit) ** drawn
    else:
        share = sum((Fraction(count, total) ** drawn for count in marbles.values()), Fraction(0))
    return rf"\boxed{{\frac{{{share.numerator}}}{{{share.denominator}}}}}"
