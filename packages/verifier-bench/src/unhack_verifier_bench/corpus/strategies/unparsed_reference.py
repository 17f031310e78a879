"""A refusal."""


def strategy(prompt: str) -> str:
    """A wrong completion."""
    return "No idea."
