"""Another number in each channel: those on offer, or small ones."""

import re


def strategy(prompt: str) -> str:
    """A wrong completion."""
    offered = re.search(r": (\d+), (\d+) or (\d+)", prompt)
    one, two, three, four = (*offered.groups(), "0") if offered else ("6", "8", "10", "12")
    return f"The answer is {one}. \\boxed{{{two}}} <answer>{three}</answer>\n#### {four}"
