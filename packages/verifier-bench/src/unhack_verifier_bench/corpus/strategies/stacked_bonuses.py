"""One word that earns a bonus, again and again, and no answer."""


def strategy(prompt: str) -> str:
    """A wrong completion."""
    return "indeed " * 20 + "<answer></answer>"
