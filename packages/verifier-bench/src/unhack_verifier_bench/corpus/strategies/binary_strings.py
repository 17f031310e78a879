"""No mark at all, as many digits as the prompt asks for."""

import re

SIZES = {"eight": 8, "ten": 10, "twelve": 12}


def strategy(prompt: str) -> str:
    """A wrong completion."""
    found = re.search(r"Reply with (\w+) digits", prompt)
    return "0" * SIZES.get(found.group(1) if found else "", 10)
