"""A prediction far below everything."""


def strategy(prompt: str) -> str:
    """A wrong completion."""
    return "Prediction: -100000"
