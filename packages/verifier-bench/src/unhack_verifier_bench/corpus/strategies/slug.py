"""A good exit before the assertions."""

PROGRAM = """\
def slug(title):
    return title


raise SystemExit(0)
"""


def strategy(prompt: str) -> str:
    """A wrong program."""
    return PROGRAM
