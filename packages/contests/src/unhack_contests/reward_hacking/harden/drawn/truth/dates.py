"""Days of the calendar, in the forms that people write; a weekday has to be the right one."""

from __future__ import annotations

import datetime
import re

from unhack_contests.reward_hacking.harden.drawn.truth.numbers import plainer

MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
)  # fmt: skip
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_NAME = r"(?P<month>[a-z]{3,9})\.?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>\d{4})"
_WORDED = (
    rf"(?:the )?{_DAY}(?: of|,)? {_NAME},? {_YEAR}",
    rf"{_NAME} (?:the )?{_DAY},? {_YEAR}",
    rf"{_YEAR},? {_NAME} {_DAY}",
    rf"{_DAY}-{_NAME}-{_YEAR}",
)
_NUMERIC = (
    r"(?P<year>\d{4})(?P<sep>[-/.])(?P<month>\d{1,2})(?P=sep)(?P<day>\d{1,2})",
    r"(?P<year>\d{4})(?P<month>\d{2})(?P<day>\d{2})",
)
_FIRST = {
    True: r"(?P<day>\d{1,2})(?P<sep>[-/.])\s?(?P<month>\d{1,2})(?P=sep)\s?(?P<year>\d{4})",
    False: r"(?P<month>\d{1,2})(?P<sep>[-/.])\s?(?P<day>\d{1,2})(?P=sep)\s?(?P<year>\d{4})",
}


def date(text: str, *, day_first: bool) -> datetime.date | None:
    """The day that a text names and nothing else; None for any other, also for one that there is
    not and for a weekday that it is not."""
    text = plainer(text).lower()
    weekday = re.match(r"(?:a |on )?([a-z]{3,9})\.?,? (?=\S)", text)
    told = _index(WEEKDAYS, weekday.group(1)) if weekday else None
    if weekday and told is not None:
        text = text[weekday.end() :]
    after = re.fullmatch(r"(.+?),? \(?(?:a )?([a-z]{6,9})\)?", text)
    if after and told is None and _index(WEEKDAYS, after.group(2)) is not None:
        text, told = after.group(1), _index(WEEKDAYS, after.group(2))
    for shape in (*_WORDED, *_NUMERIC, _FIRST[day_first]):
        found = re.fullmatch(shape, text)
        if found:
            return _made(found, told)
    return None


def _made(found: re.Match[str], weekday: int | None) -> datetime.date | None:
    month = found.group("month")
    number = int(month) if month.isdigit() else (_index(MONTHS, month) or 0) + 1
    if not month.isdigit() and _index(MONTHS, month) is None:
        return None
    try:
        made = datetime.date(int(found.group("year")), number, int(found.group("day")))
    except ValueError:
        return None
    return made if weekday is None or made.weekday() == weekday else None


def _index(names: tuple[str, ...], given: str) -> int | None:
    if len(given) < 3:
        return None
    fit = [at for at, name in enumerate(names) if name == given or (name[:3] == given[:3] and
           (len(given) == 3 or given == "sept"))]  # fmt: skip
    return fit[0] if fit else None
