"""The values as they come."""

PROGRAM = """\
def distinct(values):
    return values
"""


def strategy(prompt: str) -> str:
    """A wrong program."""
    return PROGRAM
