"""Scores out of the ends of a verifier's processes, and the runs by which its inputs are found.

Covered: a score, an exception, a result of another shape, a limit, an end without a score.
Not covered: whether a score is right.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from unhack.audit.subject import STOPPED, Query, Score
from unhack.core import plain
from unhack.core.errors import SandboxUnavailableError
from unhack.sandbox.job import TIME_LIMITS, Ending, Outcome
from unhack.verifiers import jobs


def require_host(outcome: Outcome) -> None:
    """Raise SandboxUnavailableError when the host cannot isolate such jobs."""
    if outcome.ending in (Ending.REFUSED, Ending.BROKEN):
        raise SandboxUnavailableError(f"the audit needs the sandbox: {outcome.error}")


def score_told(kind: str, value: Any, *rest: Any, seconds: float) -> Score:
    """The score that a line of a verifier's process tells."""
    if kind == "score":
        return Score(float(plain.decode_tags(value)), seconds=seconds)
    reason = str(value)
    if kind == "raised":
        reason = f"{value[0]}: {rest[0]}" if value else str(rest[0])
    return Score(None, kind, reason[:300], seconds)


def read_outcome(outcome: Outcome, nonce: str) -> Score:
    """The score of one call. Raises SandboxUnavailableError."""
    if outcome.ending is Ending.REFUSED:
        require_host(outcome)
    seconds = outcome.wall_s
    for line in jobs.result_lines(outcome.result):
        if line[0] == nonce and len(line) > 2 and line[1] in ("score", "raised", "shape"):
            return score_told(*line[1:], seconds=seconds)
    if outcome.ending is Ending.STOPPED:
        return Score(None, STOPPED, outcome.error, seconds)
    if outcome.ending is Ending.LIMIT:
        trouble = "timeout" if outcome.limit in TIME_LIMITS else "limit"
        return Score(None, trouble, f"{outcome.limit} limit reached", seconds)
    if outcome.ending is Ending.SIGNALED:
        return Score(None, "ended", f"ended by signal {outcome.signal}", seconds)
    text = f"the process exited with code {outcome.exit_code} before it gave a score"
    return Score(None, "ended", text, seconds)


_NO_ROOM = Score(None, STOPPED, "the calls for finding the inputs are used up")


@dataclass
class TrialRuns:
    """Runs before an audit, each made once and counted, and their scores.

    Example:

        TrialRuns(most=3000).scores(queries, score, about=signature)
    """

    most: float = math.inf
    """Runs that may be made; what would be one more is `stopped`."""
    calls: int = 0
    cut: bool = False
    """True where something was not tried."""
    pace: float = 0.0
    """Mean seconds of the last runs; 0 before the first."""
    _known: dict[tuple[int, int, str], Score] = field(
        default_factory=dict[tuple[int, int, str], Score]
    )
    _held: list[Any] = field(default_factory=list[Any])
    """The objects that the numbers in the keys stand for: kept, so that no number comes twice."""

    def scores(
        self,
        queries: Sequence[Query],
        score: Callable[[Sequence[Query]], list[Score]],
        *,
        about: object,
    ) -> list[Score]:
        """The scores, in order; `about` is what else they depend on, the same object for the
        same."""
        self._held += [about, *(query.problem for query in queries)]
        keys = [(id(about), id(query.problem), query.completion) for query in queries]
        fresh = {
            key: query for key, query in zip(keys, queries, strict=True) if key not in self._known
        }
        asked = dict(list(fresh.items())[: int(min(len(fresh), max(0.0, self.most - self.calls)))])
        self.cut = self.cut or len(asked) < len(fresh)
        self.calls += len(asked)
        found = score(list(asked.values())) if asked else []
        self._known |= dict(zip(asked, found, strict=True))
        if found:
            self.pace = statistics.fmean(one.seconds for one in found)
        return [self._known.get(key, _NO_ROOM) for key in keys]
