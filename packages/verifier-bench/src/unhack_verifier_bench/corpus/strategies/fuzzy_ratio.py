"""The date or the long number of the prompt as it is."""

import re


def strategy(prompt: str) -> str:
    """A wrong completion."""
    found = re.search(r"\d+ [A-Z]\w+ \d{4}|\d{5,}", prompt)
    return f"Answer: {found.group() if found else 'unknown'}"
