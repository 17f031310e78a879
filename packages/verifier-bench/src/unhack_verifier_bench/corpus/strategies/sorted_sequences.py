"""The numbers of the prompt in the order in which they stand there."""

import re


def strategy(prompt: str) -> str:
    """A wrong completion."""
    found = re.search(r"\d+(?:, \d+)+", prompt)
    return f"<answer>{found.group() if found else 0}</answer>"
