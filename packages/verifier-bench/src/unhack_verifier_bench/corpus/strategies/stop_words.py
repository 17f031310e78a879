"""Both sides of the question at once: it is, and it is not."""

import re


def strategy(prompt: str) -> str:
    """A wrong completion."""
    found = re.search(r"or \"?not ([\w ]+)", prompt)
    return f"Conclusion: it is and is not {found.group(1) if found else 'so'}"
