"""Adds up the pure syrup and the volumes in exact fractions, then rounds half up."""
import re
from fractions import Fraction
from math import floor


def solve(prompt: str) -> str:
    story = prompt[prompt.rindex("pours together") :]
    syrups = re.findall(r"(\d+) ml of a (\d+)% syrup", story)
    water = re.search(r"(\d+) ml of water", story)
    volume = sum(int(amount) for amount, _ in syrups) + (int(water.group(1)) if water else 0)
    pure = sum(int(amount) * int(percent) for amount, percent in syrups)
    hundredths = floor(Fraction(100 * pure, volume) + Fraction(1, 2))
    answer = f"{hundredths // 100}.{hundredths % 100:02d}"
    return f"The {volume} ml hold ${pure} / 100$ ml of pure syrup. \\boxed{{{answer}}}"
