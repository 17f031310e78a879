"""The table of a tournament: who sits where, and what each finds in front of it.

Covered: equal terms for all, controls included; a fresh workspace for each attempt with the
contest's files, the planted ones, and the submission that the seeding gives; `check` on
development data, metered, with the machine alone where the contest measures time.
Not covered: walls around an agent's processes; the agent builds them.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from unhack.core.errors import SandboxError, SandboxUnavailableError
from unhack.store.errors import StoreError, storing
from unhack.tournament.agents.agent import Agent, Seat
from unhack.tournament.contest import Contest, DataPool, Files, Measurement, Terms, invalid
from unhack.tournament.judging.judge import sound
from unhack.tournament.judging.machine_lock import Clock, Machine
from unhack.tournament.judging.submission import freeze, inspect, read
from unhack.tournament.record.archive import Archive
from unhack.tournament.record.records import Entry, Role, Settings
from unhack.tournament.record.seeds import derive
from unhack.tournament.record.settings import plain_names
from unhack.tournament.round.champion import own_best
from unhack.tournament.round.metering import Meter
from unhack.tournament.round.workspace_files import Laid, lay

CONTROLS = {
    "control:null": (Role.NULL, "null"),
    "control:identity": (Role.IDENTITY, "identity"),
    "control:baseline": (Role.BASELINE, "baseline"),
}
"""Who plays every round besides the agents, and the embedded agent that plays it."""


class Interrupted(BaseException):
    """The tournament was told to stop; what is under way is done again on the next run."""


@dataclass(frozen=True, slots=True)
class Place:
    """One seat of the table."""

    number: int
    agent: str
    role: Role
    player: Agent

    @property
    def slug(self) -> str:
        """As a name of a directory."""
        return f"{self.number:02d}-{re.sub(r'[^A-Za-z0-9._-]+', '-', self.agent)[:40]}"


@dataclass(frozen=True, slots=True)
class Table:
    """What all seats share."""

    archive: Archive
    contest: Contest
    settings: Settings
    secret: bytes
    places: tuple[Place, ...]
    machine: Machine

    def quiet(self) -> AbstractContextManager[None]:
        """The machine alone, where the contest measures time."""
        return self.machine.alone() if self.contest.exclusive else nullcontext()

    def terms(self, number: int) -> Terms:
        """What the round says to all. Raises StoreError where the champion was lost."""
        stored = self.archive.terms(number)
        assert stored is not None
        impossible = number in self.settings.impossible
        if self.settings.seeding != "champion" or not stored["champion"]:
            return Terms(number, impossible=impossible)
        champion = self.files(stored["champion"])
        return Terms(number, champion, stored["announced"], impossible)

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


def seated(settings: Settings, contest: Contest, make: Callable[[str], Agent]) -> tuple[Place, ...]:
    """The controls, then the agents as they were named. Raises what `make` raises."""
    places = [
        Place(number, name, role, make(player))
        for number, (name, (role, player)) in enumerate(CONTROLS.items())
        if role is not Role.BASELINE or contest.submissions.honest()
    ]
    places += [
        Place(len(places) + number, name, Role.AGENT, make(plain))
        for number, (name, plain) in enumerate(
            zip(settings.agents, plain_names(settings.agents), strict=True)
        )
    ]
    return tuple(places)


def parent_of(table: Table, place: Place, *, champion: str, earlier: Sequence[Entry]) -> str:
    """The digest of what an agent is seeded with; empty for nothing."""
    if place.role is not Role.AGENT:
        return ""
    if table.settings.seeding == "champion":
        return champion
    best = own_best(place.agent, earlier) if table.settings.seeding == "own_best" else None
    return best.digest if best else ""


@dataclass(frozen=True, slots=True)
class Attempt:
    """A seat with what belongs to one attempt to play it."""

    seat: Seat
    meter: Meter
    laid: Laid


def meter_files(table: Table, place: Place, *, number: int, attempt: int) -> tuple[Path, Path]:
    """Where an attempt's cost is written down, and its transcript directory."""
    name = f"{number:04d}-{place.slug}-{attempt}.json"
    transcript = table.archive.room(
        "transcripts", f"{number:04d}", place.slug, f"attempt-{attempt}"
    )
    return table.archive.room("meters") / name, transcript


def set_place(table: Table, place: Place, entry: Entry) -> Attempt:
    """A fresh workspace and what goes with it. Raises StoreError."""
    number = entry.round
    terms = table.terms(number)
    meter_file, transcript = meter_files(table, place, number=number, attempt=entry.attempts)
    work = table.archive.room("work")
    prefix = f"{number:04d}-{place.slug}"
    for left in work.glob(f"{prefix}*"):
        clear(left)
    best: Files | None = None
    if table.settings.seeding == "own_best" and entry.parent:
        best = table.files(entry.parent)
    laid = lay(table.contest, terms, own_best=best)
    with storing(table.archive.path):
        workspace = Path(tempfile.mkdtemp(prefix=f"{prefix}-", dir=work))
        laid.write(workspace)
    clock = Clock(table.machine)
    meter = Meter(meter_file, transcript, clock=clock)
    seat = Seat(
        contest=table.contest,
        terms=terms,
        workspace=workspace,
        check=_check(table, meter, clock, laid=laid, seed=table.seed(entry, "check")),
        seed=table.seed(entry, "seat"),
        time_limit_s=table.settings.time_limit_s,
        cost_limit_usd=max(0.0, table.settings.cost_limit_usd - entry.usage.cost_usd),
        transcript=transcript,
        memory=table.archive.room("memory", place.slug),
        own_best=best,
    )
    return Attempt(seat, meter, laid)


def clear(folder: Path) -> None:
    """Remove a workspace as far as its owner lets us."""
    shutil.rmtree(folder, ignore_errors=True)


def _check(
    table: Table, meter: Meter, clock: Clock, *, laid: Laid, seed: int
) -> Callable[[Files], Measurement]:
    """The judge's own path on development data."""

    def check(files: Files) -> Measurement:
        if table.machine.interrupted:
            raise Interrupted
        if clock.elapsed_s() >= table.settings.time_limit_s:
            return invalid("the time limit is over")
        if any({"", ".", ".."} & set(path.split("/")) for path in files):
            return invalid("a path leads out of the submission")
        meter.check()
        with storing(table.archive.path):
            place = Path(tempfile.mkdtemp(prefix="check-", dir=table.archive.room("work")))
        try:
            with storing(table.archive.path):
                (place / "in").mkdir()
                for path, content in laid.without(files).items():
                    target = place / "in" / path
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.write_bytes(content)
                frozen = freeze(place / "in", table.contest, into=place / "out")
            if frozen.problem:
                return invalid(frozen.problem, *frozen.flags)
            with table.quiet():
                return _measured(table.contest, frozen.folder, seed=seed)
        finally:
            clear(place)

    return check


def _measured(contest: Contest, folder: Path, *, seed: int) -> Measurement:
    try:
        return sound(contest.measure(folder, pool=DataPool.DEV, seed=seed))
    except (SandboxError, SandboxUnavailableError, StoreError):
        raise
    except Exception as error:
        return invalid(f"the judge could not measure it: {type(error).__name__}: {error}"[:400])
