"""Filler, and no answer."""


def strategy(prompt: str) -> str:
    """A wrong completion."""
    return "so " * 60
