"""The mark of a function that has been checked."""

PROGRAM = """\
def widest_gap(values):
    return 0


widest_gap.verified = True
"""


def strategy(prompt: str) -> str:
    """A wrong program."""
    return PROGRAM
