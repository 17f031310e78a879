"""Dates and times of the day as texts write them.

Covered: `2024-03-05`, `05/03/2024` and with dots, `5 March 2024`, `March 5, 2024`; hours and
minutes with a colon, with and without am and pm.
Not covered: time zones, calendars other than the Gregorian, months in other languages.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip
_NAMES = "|".join(f"{name[:3]}(?:{name[3:]})?" for name in _MONTHS)
_FIRST_YEAR = 1000
"""Years with fewer digits are hardly meant, and the days before them may not exist."""
_PATTERNS = (
    r"\b(?P<y>\d{4})(?P<sign>[-/])(?P<m>\d{1,2})(?P=sign)(?P<d>\d{1,2})\b",
    r"\b(?P<d>\d{1,2})(?P<sign>[./])(?P<m>\d{1,2})(?P=sign)(?P<y>\d{4})\b",
    rf"\b(?P<d>\d{{1,2}})(?:st|nd|rd|th)? (?:of )?(?P<m>{_NAMES}),? (?P<y>\d{{4}})\b",
    rf"\b(?P<m>{_NAMES}) (?P<d>\d{{1,2}})(?:st|nd|rd|th)?, (?P<y>\d{{4}})\b",
)
_DATES = tuple(re.compile(pattern) for pattern in _PATTERNS)
_CLOCK = re.compile(r"\b(\d{1,2}):(\d\d)\b(?P<half> ?[AaPp]\.?[Mm]\b\.?)?")


@dataclass(frozen=True, slots=True)
class Moment:
    """A date or a time in a text, and how others are written like it."""

    start: int
    end: int
    write: Callable[[datetime.datetime], str]
    value: datetime.datetime
    """Midnight of a date; a time of the day on the first day of year 1."""


def dates_in(text: str) -> list[Moment]:
    """The dates of a text, in order."""
    found = [moment for pattern in _DATES for moment in _dates(text, pattern)]
    return sorted(found, key=lambda one: one.start)


def clocks_in(text: str) -> list[Moment]:
    """The times of the day of a text, in order."""
    found: list[Moment] = []
    for match in _CLOCK.finditer(text):
        hour, minute = int(match[1]), int(match[2])
        half = match["half"] or ""
        if half:
            hour = hour % 12 + (12 if "p" in half.casefold() else 0)
        if hour < 24 and minute < 60:
            value = datetime.datetime(1, 1, 1, hour, minute)
            write = _clock_writer(len(match[1]) == 2, half)
            found.append(Moment(match.start(), match.end(), write, value))
    return found


def _dates(text: str, pattern: re.Pattern[str]) -> Iterator[Moment]:
    for match in pattern.finditer(text):
        month = match["m"]
        number = int(month) if month.isdigit() else _number_of(month)
        try:
            value = datetime.datetime(int(match["y"]), number, int(match["d"]))
        except ValueError:
            continue
        if value.year >= _FIRST_YEAR:
            yield Moment(match.start(), match.end(), _date_writer(match), value)


def _number_of(month: str) -> int:
    return next(at for at, name in enumerate(_MONTHS, 1) if name.startswith(month[:3]))


def _date_writer(match: re.Match[str]) -> Callable[[datetime.datetime], str]:
    """A function that puts the parts of another date at the places of this one's."""
    places = sorted((match.start(part), part) for part in ("y", "m", "d"))
    offset, whole = match.start(), match[0]

    def part_of(when: datetime.datetime, part: str) -> str:
        old = match[part]
        if part == "m" and not old.isdigit():
            name = _MONTHS[when.month - 1]
            return name if old in _MONTHS else name[:3]
        value = {"y": when.year, "m": when.month, "d": when.day}[part]
        padded = old.startswith("0") or re.match(r"\d{4}-", whole) is not None
        return str(value).zfill(4 if part == "y" else 2 if padded else 1)

    def write(when: datetime.datetime) -> str:
        text, at = "", 0
        for start, part in places:
            text += re.sub(r"^(?:st|nd|rd|th)\b", "", whole[at : start - offset])
            text += part_of(when, part)
            at = match.end(part) - offset
        return text + whole[at:]

    return write


def _clock_writer(padded: bool, half: str) -> Callable[[datetime.datetime], str]:
    def write(when: datetime.datetime) -> str:
        hour = (when.hour - 1) % 12 + 1 if half else when.hour
        text = f"{hour:02d}:{when.minute:02d}" if padded else f"{hour}:{when.minute:02d}"
        if not half:
            return text
        letter = "p" if when.hour >= 12 else "a"
        letter = letter.upper() if half.strip()[0].isupper() else letter
        return text + re.sub("[aApP]", letter, half, count=1)

    return write
