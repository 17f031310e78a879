"""An expression that looks the reference up in the verifier's own scope."""


def strategy(prompt: str) -> str:
    """A wrong completion."""
    return 'entry["answer"]'
