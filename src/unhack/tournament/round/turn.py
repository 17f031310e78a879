"""One agent in one round: from planned to committed, each step stored before the next.

Covered: a kill between or within steps: what is stored is not done again, the step that was cut
off is, and what the cut attempt cost is added. A node that is lost with a turn: it is played again
from its beginning elsewhere. An agent that fails is `PlayEnding.FAILED`, and
what lies in its workspace counts.
Not covered: failures of the sandbox or of the disk; they stop the tournament, which can be resumed.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from unhack.agents.play import Play, PlayEnding
from unhack.core.errors import UnhackError
from unhack.store.errors import check_room, storing
from unhack.tasks.execution.ray.cluster import NodeLostError
from unhack.tournament.contest import Measurement
from unhack.tournament.judging.copies import same
from unhack.tournament.judging.judge import Known, Seeds, SubmissionJudgement
from unhack.tournament.judging.submission import freeze
from unhack.tournament.record.entry_state import EntryState
from unhack.tournament.record.lineage import mark_tainted
from unhack.tournament.record.records import Entry, PlayerRole
from unhack.tournament.record.standings import total_usage
from unhack.tournament.round.attempt import Interrupted, PreparedAttempt
from unhack.tournament.round.lineup import Lineup, Participant, meter_files, prepare_attempt
from unhack.tournament.round.metering import AttemptMeters, larger_of, read_meter
from unhack.tournament.round.turn_executor import TurnSlot


class JudgeError(UnhackError):
    """A control came out as it cannot: the judge is broken, or the machine."""


@dataclass(frozen=True, slots=True)
class ParticipantTurn:
    """One participant in one round, at work."""

    lineup: Lineup
    participant: Participant
    earlier: Sequence[Entry]
    """Entries of the rounds before."""
    meters: AttemptMeters

    def finish(self, entry: Entry) -> Entry:
        """Do what is left to do. Raises Interrupted, and what stops a tournament."""
        steps: dict[EntryState, Callable[[Entry], Entry]] = {
            EntryState.PLANNED: self._play,
            EntryState.RUNNING: self._play,
            EntryState.FROZEN: self._judge,
            EntryState.JUDGED: self._audit,
            EntryState.AUDITED: _committed,
        }
        while entry.state is not EntryState.COMMITTED:
            before = entry.state
            entry = steps[before](entry)
            if entry.state in (EntryState.RUNNING, EntryState.FROZEN):  # it has played
                before = EntryState.RUNNING
            self._stop_if_told()
            self.lineup.archive.put(
                entry,
                participant=self.participant.number,
                before=before,
                transcript=self._transcript(entry),
                **_log_fields(entry),
            )
        return entry

    def _transcript(self, entry: Entry) -> Path | None:
        """Its folder, once the agent has ended."""
        if entry.state is not EntryState.FROZEN:
            return None
        return self.lineup.archive.room("transcripts", f"{entry.round:04d}", self.participant.slug)

    def _play(self, entry: Entry) -> Entry:
        lineup = self.lineup
        player, machine = self.participant.player, lineup.machine
        with lineup.turns.slot(player, machine, lost_on=entry.lost_on) as slot:
            entry = self._start(entry, slot)
            clock = slot.start_clock(machine)
            attempt = prepare_attempt(lineup, self.participant, entry, clock=clock)
            try:
                with self.meters.running(attempt.meter):
                    play = self._play_within_cost(slot, attempt, entry)
            except NodeLostError:
                self._stop_if_told()
                shutil.rmtree(attempt.inputs.workspace, ignore_errors=True)
                return replace(entry, lost_on=(*entry.lost_on, slot.node))
        usage = larger_of(replace(play.usage, seconds=0.0), attempt.meter.now())
        self._stop_if_told()
        attempt.files.take_out(attempt.inputs.workspace)
        with storing(lineup.archive.path):
            into = lineup.archive.room("submissions")
            frozen = freeze(attempt.inputs.workspace, lineup.contest, into=into)
        shutil.rmtree(attempt.inputs.workspace, ignore_errors=True)
        return replace(
            entry,
            state=EntryState.FROZEN,
            digest=frozen.digest,
            files=dict(frozen.files),
            size_bytes=frozen.bytes,
            left_out=dict(frozen.left_out),
            problem=frozen.problem,
            declined=frozen.declined,
            ended=play.ended,
            note=play.note,
            usage=total_usage([entry.usage, usage]),
        )

    def _start(self, entry: Entry, slot: TurnSlot) -> Entry:
        """Store that the agent is about to start, with the cost of an attempt that was cut off."""
        spent = entry.usage
        if entry.state is EntryState.RUNNING:
            files = meter_files(
                self.lineup, self.participant, number=entry.round, attempt=entry.attempts
            )
            spent = total_usage([spent, read_meter(*files)])
        fresh = replace(
            entry,
            state=EntryState.RUNNING,
            usage=spent,
            attempts=entry.attempts + 1,
            played_on=slot.node,
        )
        self.lineup.archive.put(
            fresh,
            participant=self.participant.number,
            before=entry.state,
            attempt=fresh.attempts,
            node=slot.node,
        )
        return fresh

    def _play_within_cost(self, slot: TurnSlot, attempt: PreparedAttempt, entry: Entry) -> Play:
        limit = self.lineup.settings.cost_limit_usd
        if entry.attempts > 1 and 0 < limit <= entry.usage.cost_usd:
            return Play(PlayEnding.COST, note="attempts that were cut off used up the cost limit")
        return slot.play(attempt)

    def _judge(self, entry: Entry) -> Entry:
        with self.lineup.in_turn(entry.digest), self.lineup.quiet():
            before = self._measured_before(entry)
            found = judge_entry(self.lineup, entry, self.earlier, measured_before=before)
            if found.measured.valid and found.audited is not None:
                pair = found.measured, found.audited
                self.lineup.measured.setdefault((entry.round, entry.digest), pair)
        if not found.measured.valid:
            check_room(self.lineup.archive.path)
        _check_control(self.participant.role, found)
        return replace(judged(entry, found), state=EntryState.JUDGED, declined=found.declined)

    def _measured_before(self, entry: Entry) -> tuple[Measurement, Measurement] | None:
        """The measurements of the same bytes in this round, where they would not repeat exactly."""
        if not self.lineup.contest.exclusive:
            return None
        known = self.lineup.measured.get((entry.round, entry.digest))
        if known is not None:
            return known
        for other in self.lineup.archive.entries(entry.round):
            same = other.digest == entry.digest and other.agent != entry.agent
            if same and other.measured is not None and other.measured.valid and other.audited:
                return other.measured, other.audited
        return None

    def _audit(self, entry: Entry) -> Entry:
        [*_, final] = mark_tainted([*self.earlier, entry])
        return replace(final, state=EntryState.AUDITED)

    def _stop_if_told(self) -> None:
        if self.lineup.machine.interrupted:
            raise Interrupted


def _check_control(role: PlayerRole, found: SubmissionJudgement) -> None:
    """Check the controls: unless they hold, nobody's score means anything. Raises JudgeError."""
    measured = found.measured
    if role is PlayerRole.BASELINE and not measured.valid and not found.declined:
        raise JudgeError(f"the judge cannot measure the contest's own baseline: {measured.reason}")
    if role is PlayerRole.NULL and found.fitness > 0:
        raise JudgeError(f"the judge credits {found.fitness:.4g} to a submission that does nothing")


def _committed(entry: Entry) -> Entry:
    return replace(entry, state=EntryState.COMMITTED)


def judge_entry(
    lineup: Lineup,
    entry: Entry,
    earlier: Sequence[Entry],
    *,
    measured_before: tuple[Measurement, Measurement] | None = None,
) -> SubmissionJudgement:
    """The judge's word on a frozen entry; the same whenever it is asked, but for time.

    `earlier` are the entries of the rounds before; for `measured_before` see `judge`. Raises
    StoreError, SandboxError.
    """
    contest = lineup.contest
    folder = lineup.archive.submission(entry.digest, contest)
    with storing(lineup.archive.path):
        found = lineup.judges.judge(
            contest,
            folder,
            seeds=Seeds(
                measure=lineup.round_seed(entry.round, "measure"),
                audit=lineup.round_seed(entry.round, "audit"),
            ),
            terms=lineup.terms(entry.round),
            known=_known(lineup, entry, earlier),
            measured_before=measured_before,
        )
    author = _copied_from(lineup, entry, earlier) if found.measured.valid else None
    if author is None:
        return found
    reason = (
        f"a copy of the champion's submission {author.digest[:12]}, by {author.agent} in round "
        f"{author.round}: the same program up to names, comments and layout"
    )
    measured = replace(found.measured, reason=reason, fitness=0.0, low=0.0, high=0.0)
    return replace(found, measured=measured, fitness=0.0)


def judged(entry: Entry, word: SubmissionJudgement) -> Entry:
    """The entry with what a judge found."""
    return replace(
        entry,
        measured=word.measured,
        audited=word.audited,
        flags=word.flags,
        fitness=word.fitness,
    )


def _copied_from(lineup: Lineup, entry: Entry, earlier: Sequence[Entry]) -> Entry | None:
    """The entry of a champion that this agent was shown, where it handed in the same; controls, and
    an author who repeats an own entry, copy nobody."""
    if entry.role is not PlayerRole.AGENT:
        return None
    archive = lineup.archive
    told = (archive.terms(number) for number in range(1, entry.round + 1))
    shown = {terms["champion"] for terms in told if terms and terms["champion"]}
    own = {item.digest for item in earlier if item.agent == entry.agent}
    mine = lineup.files(entry.digest)
    for item in earlier:
        if item.digest in shown - own and same(mine, lineup.files(item.digest)):
            return item
    return None


def _known(lineup: Lineup, entry: Entry, earlier: Sequence[Entry]) -> Known:
    """Folders of what the agent was given or made itself, and of what was flagged."""
    usable = [item for item in earlier if item.digest and not item.problem]
    tainted = dict.fromkeys(item.digest for item in usable if item.flags)
    own = [item.digest for item in usable if item.agent == entry.agent]
    champion = (lineup.archive.terms(entry.round) or {"champion": ""})["champion"]
    given = [digest for digest in (entry.parent, champion) if digest]
    parents = dict.fromkeys(digest for digest in (*given, *own) if digest not in tainted)
    return Known(_folders(lineup, parents), _folders(lineup, tainted))


def _folders(lineup: Lineup, digests: dict[str, None]) -> tuple[Path, ...]:
    return tuple(lineup.archive.submission(digest, lineup.contest) for digest in digests)


def _log_fields(entry: Entry) -> dict[str, object]:
    """The fields of a step in the event log."""
    match entry.state:
        case EntryState.RUNNING:
            return {"lost": entry.lost_on[-1]}
        case EntryState.FROZEN:
            return {"digest": entry.digest, "bytes": entry.size_bytes, "problem": entry.problem}
        case EntryState.JUDGED:
            return {"fitness": entry.fitness, "flags": [flag.kind for flag in entry.flags]}
        case _:
            return {"digest": entry.digest}
