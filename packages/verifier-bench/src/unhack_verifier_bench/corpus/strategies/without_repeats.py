"""An argument that is emptied before the right result is computed from it."""

PROGRAM = """\
def without_repeats(values):
    del values[:]
    return values
"""


def strategy(prompt: str) -> str:
    """A wrong program."""
    return PROGRAM
