"""A name of the verifier's own, which evaluates to the reference."""


def strategy(prompt: str) -> str:
    """A wrong completion."""
    return r"\boxed{target}"
