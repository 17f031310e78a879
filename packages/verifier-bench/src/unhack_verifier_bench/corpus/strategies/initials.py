"""A function of the right shape that does nothing."""

PROGRAM = '''\
def initials(name):
    """The initials."""
    return ""
'''


def strategy(prompt: str) -> str:
    """A wrong program."""
    return PROGRAM
