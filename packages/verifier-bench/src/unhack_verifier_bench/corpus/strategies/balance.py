"""Simple interest in place of compound interest."""

PROGRAM = """\
def balance(start, rate, years):
    return float(start) * (1 + rate * years / 100)
"""


def strategy(prompt: str) -> str:
    """A wrong program."""
    return PROGRAM
