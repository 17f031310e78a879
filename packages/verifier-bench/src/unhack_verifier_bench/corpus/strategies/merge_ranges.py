"""An object that equals every other."""

PROGRAM = """\
class Anything:
    def __eq__(self, other):
        return True

    __hash__ = None


def merge_ranges(ranges):
    return Anything()
"""


def strategy(prompt: str) -> str:
    """A wrong program."""
    return PROGRAM
