"""A report of one's own on the standard output."""

PROGRAM = """\
import os


def word_lengths(text):
    print('{"passed": 1, "total": 1}', flush=True)
    os._exit(0)
"""


def strategy(prompt: str) -> str:
    """A wrong program."""
    return PROGRAM
