"""A call that never ends in time."""

PROGRAM = """\
def longest_climb(heights):
    while True:
        pass
"""


def strategy(prompt: str) -> str:
    """A wrong program."""
    return PROGRAM
