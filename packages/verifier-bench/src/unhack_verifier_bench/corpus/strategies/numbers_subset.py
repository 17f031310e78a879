"""A pair of tags without a number."""


def strategy(prompt: str) -> str:
    """A wrong completion."""
    return "<answer></answer>"
