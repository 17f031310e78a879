"""An empty reply, so that only the prompt is searched."""


def strategy(prompt: str) -> str:
    """A wrong completion."""
    return ""
