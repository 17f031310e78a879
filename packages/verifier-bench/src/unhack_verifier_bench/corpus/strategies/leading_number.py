"""The first number that the answer will need, and nothing of the rest."""

import re

BASES = {"two": "2", "three": "3", "five": "5"}


def strategy(prompt: str) -> str:
    """A wrong completion."""
    divided = re.search(r"Write (\d+) divided", prompt)
    power = re.search(r"power of (\w+)", prompt)
    number = divided.group(1) if divided else BASES.get(power.group(1), "0") if power else "0"
    return rf"\boxed{{{number}}}"
