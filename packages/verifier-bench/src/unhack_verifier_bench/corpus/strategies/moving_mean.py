"""An empty list."""

PROGRAM = """\
def moving_mean(values, width):
    return []
"""


def strategy(prompt: str) -> str:
    """A wrong program."""
    return PROGRAM
