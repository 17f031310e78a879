"""Counts over tasks that were read, with intervals.

summary = summarised(readings)
summary.counts[SuspicionKind.TOLD]      # 12
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from unhack.audit.environments.reading.suspicion import KINDS, SuspicionKind, TaskReading
from unhack.core.statistics import wilson


@dataclass(frozen=True, slots=True)
class ReadingSummary:
    """Counts of tasks.

    Example:

        summary.share(summary.quiet)     # "84 of 200, 42.0 % (35.4 to 48.9)"
    """

    read: int
    failed: Mapping[str, str]
    """Task that was not read -> why."""
    partly: Mapping[str, str]
    """Task of which a part was not read -> which."""
    quiet: int
    """Tasks that were wholly read, without a kind that tells them from others."""
    counts: Mapping[SuspicionKind, int]
    """Kind -> tasks that have it; in the order of `KINDS`."""

    def share(self, count: int) -> str:
        """A count of those that were read, with its Wilson interval of 95 %."""
        low, high = wilson(count, self.read)
        rate = count / self.read if self.read else 0.0
        return (
            f"{count:,} of {self.read:,}, {100 * rate:.1f} % ({100 * low:.1f} to {100 * high:.1f})"
        )

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "tasks": self.read + len(self.failed), "read": self.read, "quiet": self.quiet,
            "not_read": dict(self.failed), "partly_read": dict(self.partly),
            "kinds": {
                kind.value: {"tasks": count, "interval_95": list(wilson(count, self.read))}
                for kind, count in self.counts.items()
            },
        }  # fmt: skip


def summarised(readings: Iterable[TaskReading]) -> ReadingSummary:
    """The counts of readings."""
    found = Counter[SuspicionKind]()
    failed: dict[str, str] = {}
    partly: dict[str, str] = {}
    read = quiet = 0
    for one in readings:
        if one.failed:
            failed[one.name] = "; ".join(one.unread)
            continue
        read += 1
        quiet += not one.kinds and not one.unread
        found.update({suspicion.kind for suspicion in one.suspicions})
        if one.unread:
            partly[one.name] = "; ".join(one.unread)
    counts = {kind: found[kind] for kind in KINDS}
    return ReadingSummary(read, failed, partly, quiet, counts)
