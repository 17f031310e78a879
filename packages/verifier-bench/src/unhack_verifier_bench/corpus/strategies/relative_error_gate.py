"""A value that is no number and compares with nothing."""


def strategy(prompt: str) -> str:
    """A wrong completion."""
    return "<answer>nan</answer>"
