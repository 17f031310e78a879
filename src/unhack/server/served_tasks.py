"""The tasks that a request may name: those that unhack brings along, never a path of this machine.

    check_served("strings/knit-rows")     check_served("math/bag-draw#3")

Covered: names of suites and tasks as `unhack tasks list` prints them, rows of text tasks; whatever
looks like a path is unknown, with the nearest names, whether it is there or not.
Not covered: a tenant's own tasks; they are sent as values.
"""

from __future__ import annotations

from functools import cache

from unhack.core.errors import UnknownNameError
from unhack.tasks.suite import builtin_ids, builtin_suites

_LISTED = "`unhack tasks list` lists them"


@cache
def _known() -> frozenset[str]:
    return frozenset(builtin_ids())


def check_served(name: str) -> str:
    """The name of a task that unhack brings along, as it is. Raises UnknownNameError."""
    base, mark, row = name.rpartition("#")
    if (base if mark and row.isascii() and row.isdecimal() else name) not in _known():
        raise UnknownNameError("task", name, valid=_known(), listed=_LISTED)
    return name


def served_suites() -> tuple[str, ...]:
    """The names of the suites of tasks that a reply answers."""
    return builtin_suites()
