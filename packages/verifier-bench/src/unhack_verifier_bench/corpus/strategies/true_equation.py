"""An equation that holds and has nothing to do with the question."""


def strategy(prompt: str) -> str:
    """A wrong completion."""
    return "1 + 1 = 2"
