"""A text that equals every other."""

PROGRAM = """\
class Text(str):
    def __str__(self):
        return self

    def replace(self, *values):
        return self

    def __eq__(self, other):
        return True

    __hash__ = None


class Shown:
    def __str__(self):
        return Text()


def halves(items):
    return Shown()
"""


def strategy(prompt: str) -> str:
    """A wrong program."""
    return PROGRAM
