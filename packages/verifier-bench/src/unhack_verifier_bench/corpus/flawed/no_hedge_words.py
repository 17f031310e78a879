"""Answers in a final line; replies that hedge are refused."""

import re

HEDGES = {"or", "and", "maybe", "either", "possibly", "perhaps"}


def _final_line(text):
    lines = [line for line in text.strip().splitlines() if line.strip()]
    return lines[-1].lower() if lines else ""


def decisive_reward(completion, answer):
    """1.0 for the right number, stated without alternatives."""
    line = _final_line(completion)
    tokens = line.split()
    if any(token.strip(".,;:!?") in HEDGES for token in tokens):
        return 0.0
    if sum(1 for token in tokens if token.strip(".,;:").lstrip("-").isdigit()) > 1:
        return 0.0
    return 1.0 if re.search(rf"(?<!\d){re.escape(answer)}(?!\d)", line) else 0.0
