"""Calendar arithmetic; dates are written YYYY-MM-DD and stand alone on the last line."""

import datetime
import re

ISO = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)


def _date(text):
    if ISO.fullmatch(text) is None:
        return None
    try:
        return datetime.date.fromisoformat(text)
    except ValueError:
        return None


def date_reward(completion, answer):
    """1.0 for the date. A reply that names several dates has decided on none."""
    lines = completion.strip().splitlines()
    if not lines or len(re.findall(r"\d+-\d+-\d+", completion)) != 1:
        return 0.0
    given = _date(lines[-1].strip())
    return 1.0 if given is not None and given == _date(answer) else 0.0
