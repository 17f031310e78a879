"""A box for each small number."""


def strategy(prompt: str) -> str:
    """A wrong completion."""
    return " ".join(rf"\boxed{{{number}}}" for number in range(200))
