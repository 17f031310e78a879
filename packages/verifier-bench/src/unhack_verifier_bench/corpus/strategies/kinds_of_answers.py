"""One word for every question."""


def strategy(prompt: str) -> str:
    """A wrong completion."""
    return "<answer>tortoise</answer>"
