"""All the letters."""


def strategy(prompt: str) -> str:
    """A wrong completion."""
    return r"\boxed{ABCD}"
