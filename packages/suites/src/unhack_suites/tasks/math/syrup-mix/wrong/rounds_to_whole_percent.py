"""Flaw: rounds to a whole number of percent."""
import re


def solve(prompt: str) -> str:
    story = prompt[prompt.rindex("pours together") :]
    syrups = re.findall(r"(\d+) ml of a (\d+)% syrup", story)
    water = re.search(r"(\d+) ml of water", story)
    volume = sum(int(amount) for amount, _ in syrups) + (int(water.group(1)) if water else 0)
    pure = sum(int(amount) * int(percent) for amount, percent in syrups)
    return f"\\boxed{{{round(pure / volume)}}}"
