"""Numbers in \\boxed{}: every box of the reply has to hold the same number."""

import re
from fractions import Fraction

BOX = re.compile(r"\\boxed\{([^{}]*)\}")
NUMBER = re.compile(r"[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?", re.ASCII)
LONGEST = 40


def _number(text):
    """A Fraction, or None for anything that is not one plain decimal number."""
    text = text.strip()
    if len(text) > LONGEST or NUMBER.fullmatch(text) is None:
        return None
    return Fraction(text.replace(",", ""))


def compute_score(data_source, solution_str, ground_truth, extra_info=None):
    """1.0 when the reply closes with a box that holds the reference value, and no box differs."""
    boxes = BOX.findall(solution_str)
    if not boxes or len(boxes) != solution_str.lower().count("boxed"):
        return 0.0
    if re.search(r"\\boxed\{[^{}]*\}[\s$.]*\Z", solution_str) is None:
        return 0.0
    values = {_number(box) for box in boxes}
    return 1.0 if values == {_number(ground_truth)} and None not in values else 0.0
