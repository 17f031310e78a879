"""An object without fields."""


def strategy(prompt: str) -> str:
    """A wrong completion."""
    return "{}"
