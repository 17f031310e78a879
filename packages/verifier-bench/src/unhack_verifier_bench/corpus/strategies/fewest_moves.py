"""A count that no puzzle can beat."""


def strategy(prompt: str) -> str:
    """A wrong completion."""
    return "Moves: 0"
