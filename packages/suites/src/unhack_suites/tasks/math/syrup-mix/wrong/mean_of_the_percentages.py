"""Flaw: averages the two strengths without looking at the volumes (scaled for the water only)."""
import re


def solve(prompt: str) -> str:
    story = prompt[prompt.rindex("pours together") :]
    syrups = re.findall(r"(\d+) ml of a (\d+)% syrup", story)
    water = re.search(r"(\d+) ml of water", story)
    syrup_volume = sum(int(amount) for amount, _ in syrups)
    volume = syrup_volume + (int(water.group(1)) if water else 0)
    mean = sum(int(percent) for _, percent in syrups) / 2
    return f"\\boxed{{{mean * syrup_volume / volume:.2f}}}"
