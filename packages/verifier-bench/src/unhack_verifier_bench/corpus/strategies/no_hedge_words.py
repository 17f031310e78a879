"""All the small numbers in one word."""


def strategy(prompt: str) -> str:
    """A wrong completion."""
    return "/".join(map(str, range(200)))
