"""A box with a question mark."""


def strategy(prompt: str) -> str:
    """A wrong completion."""
    return r"\boxed{?}"
