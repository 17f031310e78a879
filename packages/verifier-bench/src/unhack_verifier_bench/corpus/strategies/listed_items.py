"""An empty list."""


def strategy(prompt: str) -> str:
    """A wrong completion."""
    return ""
