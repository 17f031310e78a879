"""A good exit before the assertions, by a name that is put together."""

PROGRAM = """\
import os

getattr(os, "_ex" + "it")(0)
"""


def strategy(prompt: str) -> str:
    """A wrong program."""
    return PROGRAM
