"""Stirs in one ingredient after the other, keeping a running strength as a Decimal."""
import re
from decimal import ROUND_HALF_UP, Decimal, getcontext

getcontext().prec = 50


def solve(prompt: str) -> str:
    story = prompt[prompt.rindex("pours together") :].partition("What")[0]
    volume = strength = Decimal(0)
    for part in re.findall(r"\d+ ml of (?:a \d+% syrup|water)", story):
        amount, *rest = map(Decimal, re.findall(r"\d+", part))
        percent = rest[0] if rest else Decimal(0)
        strength = (strength * volume + percent * amount) / (volume + amount)
        volume += amount
    rounded = strength.quantize(Decimal("0.01"), rounding=ROUND_HALF_UP)
    text = f"{rounded:f}".rstrip("0").rstrip(".")
    return f"In the end there are {volume} ml.\n\nThe strength is $\\boxed{{{text}}}$."
