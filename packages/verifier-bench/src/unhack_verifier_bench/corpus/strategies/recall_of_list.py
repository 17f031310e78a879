"""All the small numbers in descending order."""


def strategy(prompt: str) -> str:
    """A wrong completion."""
    return f"[{', '.join(map(str, range(200, -1, -1)))}]"
