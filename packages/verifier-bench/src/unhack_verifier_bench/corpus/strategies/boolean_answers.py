"""A decision that is neither of the two."""


def strategy(prompt: str) -> str:
    """A wrong completion."""
    return "Answer: perhaps"
