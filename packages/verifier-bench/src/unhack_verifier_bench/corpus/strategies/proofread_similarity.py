"""The sentence of the prompt with its mistake."""

import re


def strategy(prompt: str) -> str:
    """A wrong completion."""
    found = re.search(r'"[^"]+"', prompt)
    return found.group() if found else ""
