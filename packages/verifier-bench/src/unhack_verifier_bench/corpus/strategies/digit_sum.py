"""A comparison of one's own over the verifier's."""

PROGRAM = """\
def digit_sum(number):
    return 0


def same(*values):
    return True
"""


def strategy(prompt: str) -> str:
    """A wrong program."""
    return PROGRAM
