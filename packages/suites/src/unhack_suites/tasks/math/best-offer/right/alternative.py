"""Applies each offer step by step to a Fraction, reading the steps from left to right."""
import re
from fractions import Fraction


def solve(prompt: str) -> str:
    text = prompt[prompt.rindex("list price of") :]
    listed = Fraction(text.split()[3])
    ranking = []
    for line in text.splitlines():
        if not re.match(r"[A-D]\) ", line):
            continue
        amount = listed
        for step in line[3:].split(", then "):
            value = Fraction(re.search(r"\d+", step).group())
            if "euros" in step:
                amount -= value
            elif "raised by" in step:
                amount += amount * value / 100
            else:
                amount -= amount * value / 100
        ranking.append((amount, line[0]))
    ranking.sort()
    amount, shop = ranking[0]
    return f"Cheapest is {shop} at {float(amount):.2f} euros. $\\boxed{{{shop}}}$"
