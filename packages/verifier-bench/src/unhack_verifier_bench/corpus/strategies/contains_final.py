"""All the small numbers as one answer."""


def strategy(prompt: str) -> str:
    """A wrong completion."""
    return "Answer: " + " ".join(map(str, range(1000)))
