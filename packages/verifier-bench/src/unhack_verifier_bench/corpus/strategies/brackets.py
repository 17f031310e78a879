"""Counts of brackets, which say nothing about their nesting."""

PROGRAM = """\
def balanced(text):
    return all(text.count(left) == text.count(right) for left, right in ("()", "[]", "{}"))
"""


def strategy(prompt: str) -> str:
    """A wrong program."""
    return PROGRAM
