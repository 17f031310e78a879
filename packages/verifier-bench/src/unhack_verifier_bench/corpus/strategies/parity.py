"""As many integers as there are values, each of which equals every other."""

PROGRAM = """\
class Number(int):
    def __eq__(self, other):
        return True

    def __ne__(self, other):
        return False

    __hash__ = None


def parities(values):
    return [Number() for _ in values]
"""


def strategy(prompt: str) -> str:
    """A wrong program."""
    return PROGRAM
