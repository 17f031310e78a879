"""All the letters."""


def strategy(prompt: str) -> str:
    """A wrong completion."""
    return "A, B, C, D"
