"""The fraction of the prompt, not reduced."""

import re


def strategy(prompt: str) -> str:
    """A wrong completion."""
    found = re.search(r"\d+/\d+", prompt)
    return found.group() if found else "1/1"
