"""The allowance of a fix: calls and seconds for its trials and for the audits of copies.

allowance = Allowance(calls=12_000, until=time.monotonic() + 240)
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace

from unhack.audit.options import AuditOptions
from unhack.audit.proving.journal import ScoreJournal
from unhack.audit.report.report import AuditReport
from unhack.audit.subject import Subject
from unhack.sandbox.deadline import DeadlineBackend
from unhack.sandbox.job import Backend
from unhack.sandbox.pool.pool import shared_pool

USED_UP = "used up"
"""Ends the reason why a budget lets nothing more be tried."""
_TIMES = 2
_MORE = 1.5
"""Of what the audit used, for that of a copy."""


@dataclass
class Allowance:
    """The calls and seconds that are left to a fix, its trials and the audits of copies alike."""

    calls: float = math.inf
    until: float = math.inf
    """By `time.monotonic`."""
    kept_calls: float = 0.0
    kept_s: float = 0.0
    """Of both, what trials leave to the audit of the copy."""

    @staticmethod
    def of(report: AuditReport, options: AuditOptions) -> Allowance:
        """Twice as much as the audit might use: once for trials, once for audits of copies."""
        until = time.monotonic() + _TIMES * options.seconds
        kept = (
            min(_MORE * report.calls, options.calls),
            min(_MORE * report.seconds, options.seconds),
        )
        return Allowance(_TIMES * options.calls, until, *kept)

    def bound(self, options: AuditOptions) -> AuditOptions:
        """The options of an audit within what is left."""
        calls = max(1, int(min(options.calls, self.calls)))
        left = max(1.0, self.until - time.monotonic())
        return replace(options, calls=calls, seconds=min(options.seconds, left))

    @property
    def room(self) -> int | float:
        """Calls that trials may still make; 0 where the time is over."""
        return max(0.0, self.calls - self.kept_calls) if time.monotonic() < self.late else 0.0

    @property
    def late(self) -> float:
        """The end of the trials."""
        return self.until - self.kept_s

    @property
    def spent(self) -> str:
        """The reason why no more can be tried; empty where more can."""
        if self.room > 0:
            return ""
        over = "calls are" if self.calls <= self.kept_calls else "seconds are"
        return f"the {over} {USED_UP}"


def bounded_journal(
    subject: Subject, allowance: Allowance, backend: Backend | None
) -> ScoreJournal:
    """A journal whose scores stop where the trials have to."""
    timed = None
    if math.isfinite(allowance.late):
        timed = DeadlineBackend(backend or shared_pool(), until=allowance.late)
        subject = subject.with_backend(timed)
    journal = ScoreJournal(subject, None)
    journal.deadline, journal.most = timed, allowance.room
    return journal
