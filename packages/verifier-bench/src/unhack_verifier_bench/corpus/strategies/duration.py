"""A refusal of every input."""

PROGRAM = """\
def seconds(text):
    raise ValueError
"""


def strategy(prompt: str) -> str:
    """A wrong program."""
    return PROGRAM
