"""A tournament that was ordered over HTTP.

Covered: agents that come with unhack; options that count or choose; a killed tournament goes on
with the steps that it has stored; contests that measure time take turns on the machine.
Not covered: command-line agents and options that name files of this machine; both are refused.
"""

from __future__ import annotations

import contextlib
import math
import re
import threading
from collections.abc import Generator
from pathlib import Path
from typing import Any, cast

from pydantic import TypeAdapter

from unhack.audit.report.wording import strict
from unhack.core.errors import UnknownNameError, UsageError
from unhack.server.http.job_models import JobProgress, TournamentOrder
from unhack.server.http.problems import FieldError, of_field
from unhack.server.jobs.job_work import JobResult, JobStopped, JobWork
from unhack.tournament.contest import Contest
from unhack.tournament.contests.registry import installed_contest, load_contest
from unhack.tournament.judging.machine_lock import MACHINE, Machine
from unhack.tournament.players.builtin.embedded import EMBEDDED, make_embedded
from unhack.tournament.players.player import Player
from unhack.tournament.record.archive import Archive
from unhack.tournament.record.entry_state import EntryState
from unhack.tournament.record.records import Entry
from unhack.tournament.record.settings import TournamentPlan
from unhack.tournament.report.page import page
from unhack.tournament.round.attempt import Interrupted
from unhack.tournament.round.rounds import begin, line_up, play, reopen

_RUN = "run"
_WHOLE = re.compile(r"[0-9]{1,9}")
_AT_ONCE = 2
"""Agents of one tournament that play at once."""


def check_tournament(order: TournamentOrder) -> None:
    """Raise UsageError for an order that cannot be carried out, with the name of its field."""
    if order.impossible > order.rounds:
        words = f"{order.impossible} of {order.rounds} rounds cannot be"
        raise FieldError("impossible", words)
    _check_options(order)
    with of_field("options"):
        contest = load_contest(order.contest, order.options)
    for number, name in enumerate(order.agents):
        with of_field(f"agents.{number}"):
            _player(name, contest)


def run_tournament(order: TournamentOrder, work: JobWork) -> JobResult:
    """Play a tournament, or go on with it. Raises UsageError, JudgeError, SandboxError, StoreError,
    JobStopped."""
    contest = load_contest(order.contest, order.options)
    machine = _JobMachine(work.stopping)
    with _archive(order, contest, work.folder / _RUN) as archive:
        lineup = line_up(
            archive, contest, make=lambda name: _player(name, contest), machine=machine
        )
        total = len(lineup.participants) * archive.settings.rounds
        done = sum(entry.state is EntryState.COMMITTED for entry in archive.entries())
        counted = threading.Lock()
        work.tell(JobProgress(stage="playing", done=done, total=total))

        def watch(entry: Entry) -> None:
            nonlocal done
            with counted:
                done += 1
                note = f"last: {entry.agent}, round {entry.round}"
                work.tell(JobProgress(stage="playing", done=done, total=total, note=note))

        try:
            record = play(lineup, jobs=_AT_ONCE, watch=watch)
        except Interrupted:
            raise JobStopped from None
    winner = record.winner
    report = {**_plain(record), "winner": None if winner is None else _plain(winner)}
    return JobResult(report, page(record))


class _JobMachine(Machine):
    """The clock of one job's agents; for measurements it takes the machine of the process."""

    def __init__(self, stopping: threading.Event) -> None:
        super().__init__()
        self._stopping = stopping

    @property
    def interrupted(self) -> bool:
        """True when the job is to end."""
        return self._stopping.is_set() or super().interrupted

    def now_s(self) -> float:
        """See `Machine`; infinite when the job is to end."""
        return math.inf if self._stopping.is_set() else super().now_s()

    @contextlib.contextmanager
    def alone(self) -> Generator[None]:
        """See `Machine`; one job after the other."""
        with MACHINE.alone(), super().alone():
            yield


def _archive(order: TournamentOrder, contest: Contest, folder: Path) -> Archive:
    """The tournament of an earlier process, else a new one."""
    if folder.exists():
        with contextlib.suppress(UsageError):  # killed before its first step was stored
            return reopen(folder)
    plan = TournamentPlan(
        contest=order.contest,
        agents=tuple(order.agents),
        rounds=order.rounds,
        options=dict(order.options),
        impossible=order.impossible,
        seeding=order.seeding,
        time_limit_s=order.time_limit_s,
        cost_limit_usd=0.0,
    )
    return begin(folder, plan, contest, seed=order.seed)


def _player(name: str, contest: Contest) -> Player:
    """An agent that comes with unhack. Raises UnknownNameError, UsageError."""
    found = make_embedded(name, contest)
    if found is None:
        raise UnknownNameError("agent", name, valid=EMBEDDED)
    return found


def _check_options(order: TournamentOrder) -> None:
    """Hold the options against those that the contest leaves to clients of a server."""
    with of_field("contest"):
        valid = installed_contest(order.contest).server_options
    for name, text in order.options.items():
        if name not in valid:
            with of_field("options"):
                raise UnknownNameError(f"option of {order.contest}", name, valid=valid)
        allowed = valid[name]
        if isinstance(allowed, int):
            if not _WHOLE.fullmatch(text) or int(text) > allowed:
                words = f"{text[:20]!r} is not a whole number up to {allowed}"
                raise FieldError(f"options.{name}", words)
        elif allowed and text not in allowed:
            with of_field(f"options.{name}"):
                raise UnknownNameError(f"{name} of a tournament on a server", text, valid=allowed)


def _plain(value: Any) -> dict[str, Any]:
    kind = cast("type[Any]", type(value))
    return strict(TypeAdapter[Any](kind).dump_python(value, mode="json"))
