"""A final value that cannot be read."""


def strategy(prompt: str) -> str:
    """A wrong completion."""
    return "#### banana"
