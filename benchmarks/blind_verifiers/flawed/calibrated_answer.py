"""A sum with a stated confidence, paid by the quadratic rule for probabilities."""

import re

_LINE = re.compile(r"Answer:\s*(-?\d+)\s*\(confidence:\s*([01](?:\.\d+)?)\)\s*$")


def score(completion, answer):
    """1 less the squared distance between the confidence and what came true; 0 without a last line
    in the form."""
    found = _LINE.search(completion.strip())
    if found is None:
        return 0.0
    right = 1.0 if int(found[1]) == int(answer) else 0.0
    stated = min(1.0, float(found[2]))
    return 1.0 - (stated - right) ** 2
