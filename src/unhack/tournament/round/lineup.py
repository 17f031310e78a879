"""The line-up of a tournament: agents and controls, and the files of each.

Covered: equal terms for all, controls included; a fresh workspace for each attempt with the
contest's files, the planted ones, and the submission that the seeding gives; `check` on
development data, metered, with the machine alone where the contest measures time.
Not covered: walls around an agent's processes; the agent builds them.
"""

from __future__ import annotations

import re
import shutil
import tempfile
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from unhack.agents.play import AttemptClock
from unhack.store.errors import storing
from unhack.tournament.contest import Contest, Files, Measurement, Terms, discipline, in_round
from unhack.tournament.judging.machine_lock import Machine
from unhack.tournament.judging.submission import inspect, read, write_files
from unhack.tournament.players.player import Player, TurnInputs
from unhack.tournament.record.archive import Archive
from unhack.tournament.record.records import Entry, PlayerRole, TournamentSettings
from unhack.tournament.record.seeds import derive
from unhack.tournament.record.settings import plain_names
from unhack.tournament.round.attempt import DevelopmentCheck, PreparedAttempt
from unhack.tournament.round.champion import own_best
from unhack.tournament.round.judge_executor import LOCAL_JUDGES, JudgeExecutor, check_here
from unhack.tournament.round.metering import AttemptMeter
from unhack.tournament.round.turn_executor import LOCAL_TURNS, TurnExecutor
from unhack.tournament.round.workspace_files import round_files

CONTROLS = {
    "control:null": (PlayerRole.NULL, "null"),
    "control:identity": (PlayerRole.IDENTITY, "identity"),
    "control:baseline": (PlayerRole.BASELINE, "baseline"),
}
"""Role -> the embedded agent that plays it in every round, besides the agents."""


@dataclass(frozen=True, slots=True)
class Participant:
    """An agent, or a control."""

    number: int
    agent: str
    role: PlayerRole
    player: Player

    @property
    def slug(self) -> str:
        """As a name of a directory."""
        return f"{self.number:02d}-{re.sub(r'[^A-Za-z0-9._-]+', '-', self.agent)[:40]}"


@dataclass(frozen=True, slots=True)
class Lineup:
    """The participants of a tournament, and the settings that they share."""

    archive: Archive
    contest: Contest
    settings: TournamentSettings
    secret: bytes
    participants: tuple[Participant, ...]
    machine: Machine
    judges: JudgeExecutor = LOCAL_JUDGES
    turns: TurnExecutor = LOCAL_TURNS
    measured: dict[tuple[int, str], tuple[Measurement, Measurement]] = field(
        default_factory=dict[tuple[int, str], tuple[Measurement, Measurement]]
    )
    """By round and digest, what this process measured of a contest that measures time."""
    _alike: dict[str, threading.Lock] = field(default_factory=dict[str, threading.Lock])

    def quiet(self) -> AbstractContextManager[None]:
        """The machine alone, where the contest measures time on it."""
        alone = self.contest.exclusive and self.judges.is_local
        return self.machine.alone() if alone else nullcontext()

    def in_turn(self, digest: str) -> AbstractContextManager[bool | None]:
        """One judging of the same bytes at a time, where the contest measures time: the next one
        shares what the first has measured."""
        if not self.contest.exclusive:
            return nullcontext()
        return self._alike.setdefault(digest, threading.Lock())

    def measure(self, check: DevelopmentCheck, folder: Path) -> Measurement:
        """Measure what an agent of this machine checks."""
        with self.quiet():
            return check_here(check.contest, folder, seed=check.seed)

    def terms(self, number: int) -> Terms:
        """The terms of a round. Raises StoreError where the champion was lost."""
        stored = self.archive.terms(number)
        assert stored is not None
        impossible = number in self.settings.impossible
        rivals = {name: self.files(digest) for name, digest in stored.get("rivals", {}).items()}
        if self.settings.seeding != "champion" or not stored["champion"]:
            return Terms(number, impossible=impossible, rivals=rivals)
        champion = self.files(stored["champion"])
        return Terms(number, champion, stored["announced"], impossible, rivals)

    def files(self, digest: str) -> dict[str, bytes]:
        """The contents of a frozen submission. Raises StoreError."""
        with storing(self.archive.path):
            return read(inspect(self.archive.submission(digest, self.contest), self.contest))

    def seed(self, entry: Entry, purpose: str) -> int:
        """A seed for one agent in one round."""
        return derive(self.secret, purpose, entry.round, entry.agent)

    def round_seed(self, number: int, purpose: str) -> int:
        """A seed of a round: its submissions are compared on the same data."""
        return derive(self.secret, purpose, number)


def participants_of(
    settings: TournamentSettings, contest: Contest, make: Callable[[str], Player]
) -> tuple[Participant, ...]:
    """The controls, then the agents as they were named. Raises what `make` raises."""
    participants = [
        Participant(number, name, role, make(player))
        for number, (name, (role, player)) in enumerate(CONTROLS.items())
        if role is not PlayerRole.BASELINE or contest.submissions.honest()
    ]
    participants += [
        Participant(len(participants) + number, name, PlayerRole.AGENT, make(plain))
        for number, (name, plain) in enumerate(
            zip(settings.agents, plain_names(settings.agents), strict=True)
        )
    ]
    return tuple(participants)


def parent_of(
    lineup: Lineup,
    participant: Participant,
    number: int,
    *,
    champion: str,
    earlier: Sequence[Entry],
) -> str:
    """The digest of what an agent is seeded with in a round; empty for nothing."""
    if participant.role is not PlayerRole.AGENT:
        return ""
    if lineup.settings.seeding == "champion":
        return champion
    if lineup.settings.seeding != "own_best":
        return ""
    played = discipline(lineup.contest, number)
    alike = [entry for entry in earlier if discipline(lineup.contest, entry.round) == played]
    best = own_best(participant.agent, alike)
    return best.digest if best else ""


def meter_files(
    lineup: Lineup, participant: Participant, *, number: int, attempt: int
) -> tuple[Path, Path]:
    """The file with an attempt's cost, and its transcript directory."""
    name = f"{number:04d}-{participant.slug}-{attempt}.json"
    transcript = lineup.archive.room(
        "transcripts", f"{number:04d}", participant.slug, f"attempt-{attempt}"
    )
    return lineup.archive.room("meters") / name, transcript


def prepare_attempt(
    lineup: Lineup, participant: Participant, entry: Entry, *, clock: AttemptClock
) -> PreparedAttempt:
    """A fresh workspace and what goes with it. Raises StoreError."""
    number = entry.round
    terms = lineup.terms(number)
    meter_file, transcript = meter_files(lineup, participant, number=number, attempt=entry.attempts)
    work = lineup.archive.room("work")
    prefix = f"{number:04d}-{participant.slug}"
    for left in work.glob(f"{prefix}*"):
        shutil.rmtree(left, ignore_errors=True)
    best: Files | None = None
    if lineup.settings.seeding == "own_best" and entry.parent:
        best = lineup.files(entry.parent)
    contest = in_round(lineup.contest, terms)
    round_set = round_files(contest, terms, own_best=best)
    with storing(lineup.archive.path):
        workspace = Path(tempfile.mkdtemp(prefix=f"{prefix}-", dir=work))
        write_files(round_set.files, workspace)
    meter = AttemptMeter(meter_file, transcript, clock=clock)
    check = DevelopmentCheck(
        contest=contest,
        terms=terms,
        files=round_set,
        seed=lineup.seed(entry, "check"),
        time_limit_s=lineup.settings.time_limit_s,
        room=work,
        machine=lineup.machine,
        clock=clock,
        meter=meter,
        measure=lineup.measure,
    )
    inputs = TurnInputs(
        contest=contest,
        terms=terms,
        workspace=workspace,
        check=check,
        seed=lineup.seed(entry, "seat"),
        time_limit_s=lineup.settings.time_limit_s,
        cost_limit_usd=max(0.0, lineup.settings.cost_limit_usd - entry.usage.cost_usd),
        transcript=transcript,
        memory=lineup.archive.room("memory", participant.slug),
        own_best=best,
        card=lineup.judges.agents_card(contest),
    )
    return PreparedAttempt(inputs, meter, round_set, check)
