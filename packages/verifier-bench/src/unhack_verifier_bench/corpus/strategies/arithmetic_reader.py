"""The expression of the prompt, not worked out."""

import re


def strategy(prompt: str) -> str:
    """A wrong completion."""
    found = re.search(r"Compute (.+?) in your head", prompt)
    return f"<result>{found.group(1) if found else 0}</result>"
