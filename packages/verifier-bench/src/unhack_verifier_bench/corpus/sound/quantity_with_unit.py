"""Quantities: the number has to be right, and the unit has to be the one that was asked for."""

import re
from decimal import Decimal

QUANTITY = re.compile(r"(-?\d{1,12}(?:\.\d{1,9})?)\s*([a-z]+(?:/[a-z]+)?)\.?", re.ASCII)


def _quantity(text):
    match = QUANTITY.fullmatch(text.strip())
    return (Decimal(match.group(1)), match.group(2)) if match else None


def quantity_reward(completion, answer):
    """1.0 for number and unit, 0.0 if either differs or anything else is said."""
    given = _quantity(completion)
    if given is None:
        return 0.0
    gold = _quantity(answer)
    assert gold is not None, f"{answer!r} is no quantity"
    number, unit = given
    return 1.0 if number == gold[0] and unit == gold[1] else 0.0
