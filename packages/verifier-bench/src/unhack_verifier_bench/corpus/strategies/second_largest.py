"""No answer."""

PROGRAM = """\
def second_largest(values):
    return None
"""


def strategy(prompt: str) -> str:
    """A wrong program."""
    return PROGRAM
