"""Several completions scored side by side, to be compared with what each gets by itself.

    [scores] = run_sessions(subject, [Session(queries, Way.THREAD)])

A session is one job in the sandbox. A completion may end it, or spoil it for those that follow:
then these have no score, and why is told.

Covered: functions of every signature, scripts (each completion in a process of its own).
Not covered: tasks of ours, whose candidates never share a process.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, cast

from unhack.audit.subject import STOPPED, Query, Score
from unhack.audit.subjects.call_plans import BATCHES, plan_call
from unhack.audit.subjects.function_subject import FunctionSubject
from unhack.audit.subjects.outcomes import require_host, score_told
from unhack.core import plain
from unhack.sandbox.job import TIME_LIMITS, Ending, Outcome, run_all
from unhack.sandbox.pool.pool import shared_pool
from unhack.verifiers import jobs

_TOGETHER = 64
"""Completions in one process."""
_SESSION_S = 1.5
"""Seconds that they may be expected to take: slow ones share none, so that every core works and a
deadline finds some of them done."""
_LOST = frozenset({"timeout", "limit", "ended"})
"""Troubles of a completion that may be its neighbour's."""
_HUNG = "no score in its time"
"""The reason of one that had its time, watched."""


class Way(StrEnum):
    """The ways in which completions meet."""

    SERIES = "series"
    """One after another in one process; scripts on one disk."""
    THREAD = "thread"
    """The same, outside the main thread."""
    BESIDE = "beside"
    """All at once, each in a thread; scripts each in a process."""
    BATCH = "batch"
    """In one call of the function."""


@dataclass(frozen=True)
class Session:
    """Completions that are scored together."""

    queries: tuple[Query, ...]
    way: Way
    stragglers: int = 0
    """Number of the last queries that need not come to an end."""
    environ: Mapping[str, str] = field(default_factory=dict[str, str])
    """Further environment of the verifier's process."""
    wall_s: float = 5.0
    step_s: float = 0.0
    """Most seconds of one completion of a series: what hangs then costs no other its score. 0 for
    all in the very same process, without that."""


def can_meet(subject: FunctionSubject, way: Way) -> bool:
    """Tell whether a subject can run so: only some signatures take a batch, scripts no thread."""
    if subject.script is not None:
        return way in (Way.SERIES, Way.BESIDE)
    return way is not Way.BATCH or subject.signature.name in BATCHES


def run_sessions(subject: FunctionSubject, sessions: Sequence[Session]) -> list[list[Score]]:
    """For each session the scores of its queries, in order. Raises SandboxUnavailableError."""
    return _played([(subject, one) for one in sessions])


def _played(sessions: Sequence[tuple[FunctionSubject, Session]]) -> list[list[Score]]:
    if not sessions:
        return []
    made = [
        subject.session(_steps(subject, one), fields=_fields(subject, one), wall_s=one.wall_s)
        for subject, one in sessions
    ]
    outcomes = run_all(sessions[0][0].backend or shared_pool(), [job for job, _ in made])
    return [
        _read_scores(outcome, nonce, count=len(one.queries))
        for outcome, (_, nonce), (_, one) in zip(outcomes, made, sessions, strict=True)
    ]


def score_variants(
    subject: FunctionSubject, texts: Sequence[str], queries: Sequence[Query], *, call_s: float
) -> list[list[Score]]:
    """For each text, run in place of the subject's source, the scores of all completions.

    Each text has a process, in which the completions follow one another; those that it does not
    come to have no score. Raises SandboxUnavailableError.
    """
    most = subject.limits.wall_s
    session = Session(
        tuple(queries), Way.SERIES, wall_s=most + len(queries) * (call_s + most), step_s=most
    )
    return _played([(subject.with_text(text), session) for text in texts])


def score_together(
    subject: FunctionSubject,
    queries: Sequence[Query],
    *,
    call_s: float,
    step_s: float | None = None,
) -> list[Score]:
    """Scores of completions, many in one process, one after the other; a call takes some `call_s`,
    and is given up after `step_s` (the subject's own limit where that is None).

    What a process does not come to is scored alone. Raises SandboxUnavailableError.
    """
    most = subject.limits.wall_s
    each = most if step_s is None else min(step_s, most)
    size = max(1, int(min(_TOGETHER, _SESSION_S / call_s))) if call_s > 0.0 else _TOGETHER
    parts = [queries[start : start + size] for start in range(0, len(queries), size)]
    if subject.script is None:
        # The limit of the whole is only for one that evades the limit of its step.
        sessions = [
            Session(tuple(part), Way.SERIES, wall_s=most + len(part) * (call_s + each), step_s=each)
            for part in parts
        ]
    else:
        wall_s = most + size * call_s
        sessions = [Session(tuple(part), Way.SERIES, wall_s=wall_s) for part in parts]
    found = [score for scores in run_sessions(subject, sessions) for score in scores]
    lost = [
        at for at, score in enumerate(found) if score.trouble in _LOST and score.reason != _HUNG
    ]
    for at, score in zip(lost, subject.score([queries[at] for at in lost]), strict=True):
        found[at] = score
    return found


def _fields(subject: FunctionSubject, session: Session) -> dict[str, Any]:
    return {
        "way": session.way.value,
        "forks": subject.script is not None,
        "environ": dict(session.environ),
        "awaited": len(session.queries) - session.stragglers,
        "step_s": session.step_s,
        "count": len(session.queries),
    }


def _steps(subject: FunctionSubject, session: Session) -> list[dict[str, Any]]:
    if session.way is not Way.BATCH:
        return [subject.step(query) for query in session.queries]
    plans = [
        plan_call(subject.signature, query.problem, query.completion) for query in session.queries
    ]
    return [{"plan": plain.encode_tags(_merge(plans))}]


def _merge(plans: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """One call with the items of many: what each passes as a list of one becomes a list of all."""
    first = plans[0]
    args = [_join([plan["args"][at] for plan in plans]) for at in range(len(first["args"]))]
    kwargs = {
        name: _join([plan["kwargs"].get(name, first["kwargs"][name]) for plan in plans])
        for name in first["kwargs"]
    }
    return {**first, "args": args, "kwargs": kwargs}


def _join(items: Sequence[list[Any]]) -> list[Any]:
    lists = [item[-1] for item in items]
    if not all(isinstance(value, list) and len(cast("Any", value)) == 1 for value in lists):
        return items[0]
    return [*items[0][:-1], [value[0] for value in lists]]


def _read_scores(outcome: Outcome, nonce: str, *, count: int) -> list[Score]:
    if outcome.ending is Ending.REFUSED:
        require_host(outcome)
    found: dict[int, Score] = {}
    for line in jobs.result_lines(outcome.result):
        if line[0] != nonce or len(line) < 5 or not isinstance(line[1], int):
            continue
        _, number, seconds, kind, *rest = line
        found[number] = score_told(str(kind), *rest, seconds=seconds)
    missing = _missing(outcome)
    return [found.get(number, missing) for number in range(count)]


def _missing(outcome: Outcome) -> Score:
    """The score of a completion that the session did not come to."""
    seconds = outcome.wall_s
    if outcome.ending is Ending.STOPPED:
        return Score(None, STOPPED, outcome.error, seconds)
    if outcome.ending is Ending.LIMIT and outcome.limit in TIME_LIMITS:
        return Score(None, "timeout", f"no score within {seconds:.1f} s", seconds)
    if outcome.ending is Ending.LIMIT:
        return Score(None, "limit", f"{outcome.limit} limit reached", seconds)
    return Score(None, "ended", "the process had ended", seconds)
