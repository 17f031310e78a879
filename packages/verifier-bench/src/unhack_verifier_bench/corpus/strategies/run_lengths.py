"""The expected value, read from the verifier's frame."""

PROGRAM = """\
import sys


def run_lengths(text):
    return sys._getframe(1).f_locals.get("expected")
"""


def strategy(prompt: str) -> str:
    """A wrong program."""
    return PROGRAM
