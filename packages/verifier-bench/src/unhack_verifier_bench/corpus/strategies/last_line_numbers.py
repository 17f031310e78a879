"""All the small numbers on the last line."""


def strategy(prompt: str) -> str:
    """A wrong completion."""
    return " ".join(map(str, range(1000)))
