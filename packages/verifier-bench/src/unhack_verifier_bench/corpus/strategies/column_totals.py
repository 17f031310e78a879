"""A serialiser that gives one text for everything."""

PROGRAM = """\
import json

json.dumps = lambda *values, **options: "{}"


def column_totals(rows):
    return {}
"""


def strategy(prompt: str) -> str:
    """A wrong program."""
    return PROGRAM
