"""Each letter that the prompt offers, once."""

import re


def strategy(prompt: str) -> str:
    """A wrong completion."""
    found = re.search(r"\(letters ([^)]+)\)", prompt)
    return f"Moves: {found.group(1) if found else ''}"
