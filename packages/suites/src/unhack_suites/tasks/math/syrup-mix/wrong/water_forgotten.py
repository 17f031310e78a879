"""Flaw: leaves the water out of the volume."""
import re


def solve(prompt: str) -> str:
    story = prompt[prompt.rindex("pours together") :]
    syrups = re.findall(r"(\d+) ml of a (\d+)% syrup", story)
    volume = sum(int(amount) for amount, _ in syrups)
    pure = sum(int(amount) * int(percent) for amount, percent in syrups)
    return f"\\boxed{{{pure / volume:.2f}}}"
