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

from unhack.audit.subject import Query, Score
from unhack.audit.subjects.call_plans import BATCHES, plan_call
from unhack.audit.subjects.function_subject import FunctionSubject, require_host
from unhack.core import plain
from unhack.sandbox.job import Ending, Outcome, run_all
from unhack.sandbox.pool.shared import shared_pool
from unhack.verifiers import jobs


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


def can_meet(subject: FunctionSubject, way: Way) -> bool:
    """Tell whether a subject can run so: only some signatures take a batch, scripts no thread."""
    if subject.script is not None:
        return way in (Way.SERIES, Way.BESIDE)
    return way is not Way.BATCH or subject.signature.name in BATCHES


def run_sessions(subject: FunctionSubject, sessions: Sequence[Session]) -> list[list[Score]]:
    """For each session the scores of its queries, in order. Raises SandboxUnavailableError."""
    made = [
        subject.session(_steps(subject, one), fields=_fields(subject, one), wall_s=one.wall_s)
        for one in sessions
    ]
    outcomes = run_all(subject.backend or shared_pool(), [job for job, _ in made])
    return [
        _read_scores(outcome, nonce, count=len(one.queries))
        for outcome, (_, nonce), one in zip(outcomes, made, sessions, strict=True)
    ]


def _fields(subject: FunctionSubject, session: Session) -> dict[str, Any]:
    return {
        "way": session.way.value,
        "forks": subject.script is not None,
        "environ": dict(session.environ),
        "awaited": len(session.queries) - session.stragglers,
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
        _, number, seconds, kind, value, *rest = line
        if kind == "score":
            found[number] = Score(float(plain.decode_tags(value)), seconds=seconds)
        elif kind == "raised":
            names: list[str] = value
            reason = f"{names[0]}: {rest[0]}" if names else str(rest[0])
            found[number] = Score(None, "raised", reason[:300], seconds)
        else:
            found[number] = Score(None, "shape", str(value)[:300], seconds)
    missing = _missing(outcome)
    return [found.get(number, missing) for number in range(count)]


def _missing(outcome: Outcome) -> Score:
    """The score of a completion that the session did not come to."""
    seconds = outcome.wall_s
    if outcome.ending is Ending.LIMIT and outcome.limit in {"wall", "cpu"}:
        return Score(None, "timeout", f"no score within {seconds:.1f} s", seconds)
    if outcome.ending is Ending.LIMIT:
        return Score(None, "limit", f"{outcome.limit} limit reached", seconds)
    return Score(None, "ended", "the process had ended", seconds)
