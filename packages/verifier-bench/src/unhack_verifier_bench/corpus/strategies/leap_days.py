"""The examples of the prompt as a table."""

import re


def strategy(prompt: str) -> str:
    """A wrong program."""
    rows = re.findall(r"`leap_days\(([^)]*)\)` is `(\d+)`", prompt)
    table = ", ".join(f"({arguments}): {value}" for arguments, value in rows)
    return f"def leap_days(*years):\n    return {{{table}}}.get(years, 0)\n"
