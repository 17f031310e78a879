"""Assertions that never fail."""

PROGRAM = """\
import unittest

unittest.TestCase.assertEqual = lambda *values, **options: None


def title_case(text):
    return ""
"""


def strategy(prompt: str) -> str:
    """A wrong program."""
    return PROGRAM
