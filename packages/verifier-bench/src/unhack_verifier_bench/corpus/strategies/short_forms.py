"""An empty box."""


def strategy(prompt: str) -> str:
    """A wrong completion."""
    return r"\boxed{}"
