"""All the years of two centuries, which is no date in any format."""


def strategy(prompt: str) -> str:
    """A wrong completion."""
    return "Date: one of " + " ".join(map(str, range(1900, 2100)))
