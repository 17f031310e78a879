"""Fractions; the references of the generator are expressions such as "1/2 + 1/4"."""

import re
from fractions import Fraction

REPLY = re.compile(r"(-?\d{1,12})(?:\s*/\s*(\d{1,12}))?", re.ASCII)


def _gold(expression):
    """The value of a reference, which comes from our generator and never from a model."""
    exact = re.sub(r"\d+", lambda match: f"Fraction({match.group()})", expression)
    return eval(exact, {"__builtins__": {}, "Fraction": Fraction})


def score_answer(answer, entry):
    """1.0 for a fraction with the right value; the reply holds nothing else."""
    if not isinstance(answer, str):
        return 0.0
    match = REPLY.fullmatch(answer.strip())
    if match is None:
        return 0.0
    top, bottom = int(match.group(1)), int(match.group(2) or 1)
    if bottom == 0:
        return 0.0
    return 1.0 if Fraction(top, bottom) == _gold(entry["answer"]) else 0.0
