"""A length, compared after both are put into metres."""

import re

METRES = {"mm": 0.001, "cm": 0.01, "m": 1.0, "km": 1000.0}


def score(completion, answer):
    """1 for the same length within a relative error of 1e-3; units that are missing from the table
    are not converted, since their size is not known."""
    found = re.search(r"Length:\s*(-?[\d.]+)\s*([a-z]+)\W*$", completion.strip())
    if found is None:
        return 0.0
    value, unit = answer.split()
    wanted = float(value) * METRES[unit]
    try:
        got = float(found[1]) * METRES.get(found[2], float("nan"))
    except ValueError:
        return 0.0
    return 0.0 if abs(got - wanted) > 1e-3 * wanted else 1.0
