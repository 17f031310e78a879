"""The check that a contest in a folder is the one that a tournament was begun with."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from unhack.core.errors import UsageError
from unhack.tournament.contest import Contest, Metric


def check_unchanged(contest: Contest, folder: Path, before: Mapping[str, Metric]) -> None:
    """Raise UsageError where the folder or the packages are not those that a tournament with the
    settings `before` was begun with."""
    now = contest.settings
    changed = sorted(key for key in {*before, *now} if before.get(key) != now.get(key))
    if not changed:
        return
    names = [key.removeprefix("file ") for key in changed]
    told = ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
    raise UsageError(
        f"{folder} was changed since the tournament began: {told}. Results by other "
        "rules cannot be compared: put the folder back as it was, or begin a new tournament"
    )
