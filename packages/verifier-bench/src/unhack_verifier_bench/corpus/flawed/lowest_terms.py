"""Fractions that are to be reduced."""

import re
from fractions import Fraction


def _fraction(text):
    """A Fraction from "3/4", "\\frac{3}{4}" or "0.75"."""
    text = text.strip().strip("$")
    match = re.fullmatch(r"\\d?frac\{(-?\d+)\}\{(\d+)\}", text)
    if match:
        return Fraction(int(match.group(1)), int(match.group(2)))
    return Fraction(text.replace(" ", ""))


def score_answer(answer, entry):
    """1.0 for the fraction asked for, 0.0 otherwise."""
    if answer is None:
        return 0.0
    try:
        given = _fraction(answer.split("=")[-1])
    except (ValueError, ZeroDivisionError):
        return 0.0
    gold = _fraction(entry["answer"])
    return 1.0 if given == gold else 0.0
