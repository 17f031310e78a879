"""A length, compared after both are put into metres; the unit has to be in the table."""

import re

METRES = {"mm": 0.001, "cm": 0.01, "m": 1.0, "km": 1000.0}


def score(completion, answer):
    """1 for the same length within a relative error of 1e-6 in the last line, the only one with a
    length; else 0."""
    lines = completion.strip().split("\n")
    found = re.fullmatch(r"Length: *([0-9]{1,9}(?:\.[0-9]{1,6})?) *(mm|cm|m|km)", lines[-1].strip())
    if found is None or any("Length" in line for line in lines[:-1]):
        return 0.0
    value, unit = answer.split()
    wanted = float(value) * METRES[unit]
    return 1.0 if abs(float(found[1]) * METRES[found[2]] - wanted) <= 1e-6 * wanted else 0.0
