"""The string of the prompt as it is."""

import re


def strategy(prompt: str) -> str:
    """A wrong completion."""
    found = re.search(r'"(\w+)"|digits of (\d+)', prompt)
    return f"`{(found.group(1) or found.group(2)) if found else ''}`"
