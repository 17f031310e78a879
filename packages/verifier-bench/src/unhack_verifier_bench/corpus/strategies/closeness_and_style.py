"""A number of the usual size in the form that has the bonus."""


def strategy(prompt: str) -> str:
    """A wrong completion."""
    return r"\boxed{230}"
