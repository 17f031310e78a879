"""One agent in one round: from planned to committed, each step stored before the next.

Covered: a kill between or within steps: what is stored is not done again, the step that was cut
off is, and what the cut attempt cost is added. An agent that fails is `Ended.FAILED`, and what lies
in its workspace counts.
Not covered: failures of the sandbox or of the disk; they stop the tournament, which can be resumed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from unhack.core.errors import SandboxError, SandboxUnavailableError, UnhackError, UsageError
from unhack.store.errors import StoreError, check_room, storing
from unhack.tournament.agents.agent import Agent, Ended, Play, Seat
from unhack.tournament.judging.judge import Judgement, Known, Seeds, judge
from unhack.tournament.judging.submission import freeze
from unhack.tournament.record.entry_state import State
from unhack.tournament.record.lineage import marked
from unhack.tournament.record.records import Entry, Role
from unhack.tournament.record.standings import total
from unhack.tournament.round.metering import Meters, metered, most
from unhack.tournament.round.seating import Interrupted, Place, Table, clear, meter_files, set_place

_STOP = (UsageError, StoreError, SandboxError, SandboxUnavailableError)
"""Nobody's submission is to blame for these."""


class JudgeError(UnhackError):
    """A control came out as it cannot: the judge is broken, or the machine."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One seat in one round, at work."""

    table: Table
    place: Place
    earlier: Sequence[Entry]
    """Entries of the rounds before."""
    meters: Meters

    def finish(self, entry: Entry) -> Entry:
        """Do what is left to do. Raises Interrupted, and what stops a tournament."""
        steps: dict[State, Callable[[Entry], Entry]] = {
            State.PLANNED: self._play,
            State.RUNNING: self._play,
            State.FROZEN: self._judge,
            State.JUDGED: self._audit,
            State.AUDITED: _committed,
        }
        while entry.state is not State.COMMITTED:
            before = entry.state
            entry = steps[before](entry)
            before = State.RUNNING if entry.state is State.FROZEN else before
            self._stop_if_told()
            self.table.archive.put(entry, seat=self.place.number, before=before, **_told(entry))
        return entry

    def _play(self, entry: Entry) -> Entry:
        entry = self._start(entry)
        attempt = set_place(self.table, self.place, entry)
        with self.meters.running(attempt.meter):
            play = self._played(attempt.seat, entry)
        usage = most(replace(play.usage, seconds=0.0), attempt.meter.now())
        self._stop_if_told()
        table = self.table
        attempt.laid.take_out(attempt.seat.workspace)
        with storing(table.archive.path):
            into = table.archive.room("submissions")
            frozen = freeze(attempt.seat.workspace, table.contest, into=into)
        clear(attempt.seat.workspace)
        return replace(
            entry,
            state=State.FROZEN,
            digest=frozen.digest,
            files=dict(frozen.files),
            size_bytes=frozen.bytes,
            problem=frozen.problem,
            declined=frozen.declined,
            ended=play.ended,
            note=play.note,
            usage=total([entry.usage, usage]),
        )

    def _start(self, entry: Entry) -> Entry:
        """Store that the agent is about to start, with the cost of an attempt that was cut off."""
        spent = entry.usage
        if entry.state is State.RUNNING:
            files = meter_files(self.table, self.place, number=entry.round, attempt=entry.attempts)
            spent = total([spent, metered(*files)])
        fresh = replace(entry, state=State.RUNNING, usage=spent, attempts=entry.attempts + 1)
        self.table.archive.put(
            fresh, seat=self.place.number, before=entry.state, attempt=fresh.attempts
        )
        return fresh

    def _played(self, seat: Seat, entry: Entry) -> Play:
        limit = self.table.settings.cost_limit_usd
        if entry.attempts > 1 and 0 < limit <= entry.usage.cost_usd:
            return Play(Ended.COST, note="attempts that were cut off used up the cost limit")
        return _guarded(self.place.player, seat)

    def _judge(self, entry: Entry) -> Entry:
        with self.table.quiet():
            found = judged(self.table, entry, self.earlier)
        if not found.measured.valid:
            check_room(self.table.archive.path)
        _check_control(self.place.role, found)
        return replace(
            entry,
            state=State.JUDGED,
            declined=found.declined,
            measured=found.measured,
            audited=found.audited,
            flags=found.flags,
            fitness=found.fitness,
        )

    def _audit(self, entry: Entry) -> Entry:
        [*_, final] = marked([*self.earlier, entry])
        return replace(final, state=State.AUDITED)

    def _stop_if_told(self) -> None:
        if self.table.machine.interrupted:
            raise Interrupted


def _check_control(role: Role, found: Judgement) -> None:
    """What must be so whoever plays: otherwise nobody's score means anything. Raises JudgeError."""
    measured = found.measured
    if role is Role.BASELINE and not measured.valid and not found.declined:
        raise JudgeError(f"the judge cannot measure the contest's own baseline: {measured.reason}")
    if role is Role.NULL and found.fitness > 0:
        raise JudgeError(f"the judge credits {found.fitness:.4g} to a submission that does nothing")


def _committed(entry: Entry) -> Entry:
    return replace(entry, state=State.COMMITTED)


def judged(table: Table, entry: Entry, earlier: Sequence[Entry]) -> Judgement:
    """The judge's word on a frozen entry; the same whenever it is asked, but for time.

    `earlier` are the entries of the rounds before. Raises StoreError, SandboxError.
    """
    contest = table.contest
    folder = table.archive.submission(entry.digest, contest)
    with storing(table.archive.path):
        return judge(
            contest,
            folder,
            seeds=Seeds(
                measure=table.round_seed(entry.round, "measure"),
                audit=table.round_seed(entry.round, "audit"),
            ),
            terms=table.terms(entry.round),
            known=_known(table, entry, earlier),
        )


def _known(table: Table, entry: Entry, earlier: Sequence[Entry]) -> Known:
    """Folders of what the agent was given or made itself, and of what was flagged."""
    usable = [item for item in earlier if item.digest and not item.problem]
    tainted = dict.fromkeys(item.digest for item in usable if item.flags)
    own = [item.digest for item in usable if item.agent == entry.agent]
    champion = (table.archive.terms(entry.round) or {"champion": ""})["champion"]
    given = [digest for digest in (entry.parent, champion) if digest]
    parents = dict.fromkeys(digest for digest in (*given, *own) if digest not in tainted)
    return Known(_folders(table, parents), _folders(table, tainted))


def _folders(table: Table, digests: dict[str, None]) -> tuple[Path, ...]:
    return tuple(table.archive.submission(digest, table.contest) for digest in digests)


def _guarded(player: Agent, seat: Seat) -> Play:
    """The agent's play; its own failure ends it, nobody else."""
    try:
        return player.play(seat)
    except _STOP:
        raise
    except Exception as error:
        check_room(seat.workspace)
        return Play(Ended.FAILED, note=f"{type(error).__name__}: {error}"[:400])


def _told(entry: Entry) -> dict[str, object]:
    """What the event log says of a step."""
    match entry.state:
        case State.FROZEN:
            return {"digest": entry.digest, "bytes": entry.size_bytes, "problem": entry.problem}
        case State.JUDGED:
            return {"fitness": entry.fitness, "flags": [flag.kind for flag in entry.flags]}
        case _:
            return {"digest": entry.digest}
