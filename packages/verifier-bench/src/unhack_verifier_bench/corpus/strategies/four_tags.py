"""The four tags without any content."""


def strategy(prompt: str) -> str:
    """A wrong completion."""
    return "<think></think><answer></answer>"
