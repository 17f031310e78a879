"""The loop: rounds of parallel turns, champions between them, confirmation at the end.

    with begin(Path("out"), plan, contest, seed=7) as archive:
        record = play(line_up(archive, contest, make=make), jobs=2)

Covered: going on after a kill at any point; agents in parallel, one turn at a time for each; Ctrl-C
and SIGTERM through KeyboardInterrupt (agents' clocks run out, what is under way is not stored).
Not covered: a sandbox or a disk that fails; both are raised, with everything stored so far kept.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path

from unhack.store.errors import storing
from unhack.store.ledger import Ledger, create_ledger
from unhack.tournament.contest import Contest, TakesTurns, discipline
from unhack.tournament.judging.machine_lock import MACHINE, Machine
from unhack.tournament.players.player import Player
from unhack.tournament.record.archive import Archive
from unhack.tournament.record.entry_state import EntryState
from unhack.tournament.record.records import (
    Confirmation,
    Entry,
    PlayerRole,
    Reign,
    TournamentRecord,
)
from unhack.tournament.record.seeds import derive, secret_of_seed
from unhack.tournament.record.settings import TournamentPlan, check_same, settle
from unhack.tournament.round.attempt import Interrupted
from unhack.tournament.round.champion import (
    announced_fitness,
    could_win,
    current_champion,
    holds,
    new_champion,
)
from unhack.tournament.round.judge_executor import LOCAL_JUDGES, JudgeExecutor
from unhack.tournament.round.lineup import Lineup, parent_of, participants_of
from unhack.tournament.round.metering import AttemptMeters
from unhack.tournament.round.turn import ParticipantTurn
from unhack.tournament.round.turn_executor import LOCAL_TURNS, TurnExecutor

Make = Callable[[str], Player]
"""An agent by its name."""
Watch = Callable[[Entry], None]

_BEAT_S = 0.5
_GRACE_S = 20.0
"""How long agents have to end when the tournament is told to stop."""


def begin(
    path: Path, plan: TournamentPlan, contest: Contest, *, seed: int | None = None
) -> Archive:
    """A new tournament in an empty folder; with a `seed` it can be repeated.

    Raises UsageError for a folder in use or a plan that makes no sense, StoreError.
    """
    secret = None if seed is None else secret_of_seed(seed)
    settle(plan, contest, secret=secret or b"")
    folder = create_ledger(path, secret=secret)
    try:
        archive = Archive(folder)
        archive.begin(settle(plan, contest, secret=folder.secret))
    except BaseException:
        folder.close()
        raise
    return archive


def reopen(path: Path, *, read_only: bool = False) -> Archive:
    """A tournament to go on with, or to read. Raises UsageError where there is none, StoreError."""
    folder = Ledger(path, read_only=read_only)
    try:
        archive = Archive(folder)
        _ = archive.settings
    except BaseException:
        folder.close()
        raise
    return archive


def line_up(
    archive: Archive,
    contest: Contest,
    *,
    make: Make,
    machine: Machine = MACHINE,
    judges: JudgeExecutor = LOCAL_JUDGES,
    turns: TurnExecutor = LOCAL_TURNS,
) -> Lineup:
    """The lineup of a stored tournament. Raises UsageError when the rules are others by now."""
    settings = archive.settings
    check_same(settings, contest)
    participants = participants_of(settings, contest, make)
    return Lineup(
        archive, contest, settings, archive.folder.secret, participants, machine, judges, turns
    )


def play(lineup: Lineup, *, jobs: int = 1, watch: Watch = lambda entry: None) -> TournamentRecord:
    """Do all that is left to do; `watch` is called with each entry that is committed.

    Raises KeyboardInterrupt when told to stop, and what stops a tournament: UsageError of an agent
    that cannot start, SandboxError, StoreError.
    """
    archive = lineup.archive
    for number in range(1, lineup.settings.rounds + 1):
        stored = archive.terms(number)
        if stored is None or not stored["closed"]:
            _round(lineup, number, jobs=jobs, watch=watch)
    _confirm(lineup)
    if not archive.finished:
        archive.finish()
    return archive.record()


def _round(lineup: Lineup, number: int, *, jobs: int, watch: Watch) -> None:
    archive = lineup.archive
    known = archive.entries_at(number)
    earlier = [entry for entry in known if entry.round < number]
    champions = _champions(lineup, earlier)
    played = discipline(lineup.contest, number)
    reign = champions.pop(played, None)
    if archive.terms(number) is None:
        archive.open_round(
            number,
            discipline=played,
            champion=reign.digest if reign else "",
            announced=None if reign is None else announced_fitness(reign),
            rivals={name: rival.digest for name, rival in champions.items()},
        )
    begun = {entry.agent: entry for entry in known if entry.round == number}
    champion = (archive.terms(number) or {})["champion"]
    meters = AttemptMeters()
    controls: list[Callable[[], None]] = []
    agents: list[Callable[[], None]] = []
    for participant in lineup.participants:
        entry = begun.get(participant.agent)
        if entry is None:
            parent = parent_of(lineup, participant, number, champion=champion, earlier=earlier)
            entry = Entry(
                number, participant.agent, participant.role, EntryState.PLANNED, parent=parent
            )
            archive.put(entry, participant=participant.number, before=None, parent=parent)
        turn = ParticipantTurn(lineup, participant, earlier, meters)
        if entry.state is not EntryState.COMMITTED:
            turns = agents if participant.role is PlayerRole.AGENT else controls
            turns.append(lambda turn=turn, entry=entry: watch(turn.finish(entry)))
    for turns in (controls, agents):  # a broken judge shows before anybody is given a 0 for it
        _in_parallel(turns, jobs=jobs, machine=lineup.machine, meters=meters)
    now = [entry for entry in archive.entries_at(number) if entry.round == number]
    fresh = [] if number in lineup.settings.impossible else now
    past = [] if reign is None else [reign]
    archive.close_round(number, reign=new_champion(past, fresh))


def _champions(lineup: Lineup, earlier: Sequence[Entry]) -> dict[str, Reign]:
    """The champion of each discipline that has one."""
    contest = lineup.contest
    found: dict[str, Reign] = {}
    for name in contest.disciplines if isinstance(contest, TakesTurns) else ("",):
        reigns = [one for one in lineup.archive.reigns() if discipline(contest, one.round) == name]
        reign = current_champion(reigns, earlier)
        if reign is not None:
            found[name] = reign
    return found


def _confirm(lineup: Lineup) -> None:
    """Measure each champion on data that were never used."""
    archive = lineup.archive
    contest = lineup.contest
    done = {(item.digest, discipline(contest, item.round)) for item in archive.confirmations()}
    entries = archive.entries()
    for reign in archive.reigns():
        asked = (reign.digest, discipline(contest, reign.round))
        if asked in done:
            continue
        done.add(asked)
        [entry, *_] = [
            entry for entry in entries if (entry.round, entry.agent) == (reign.round, reign.agent)
        ]
        archive.confirm(confirm_champion(lineup, reign, entry))


def confirm_champion(lineup: Lineup, reign: Reign, entry: Entry) -> Confirmation:
    """A champion on fresh data. Raises SandboxError, StoreError."""
    assert entry.measured is not None
    folder = lineup.archive.submission(reign.digest, lineup.contest)
    seed = derive(lineup.secret, "confirm", reign.digest)
    with storing(lineup.archive.path), lineup.quiet():
        found = lineup.judges.confirm(
            lineup.contest, folder, seed=seed, terms=lineup.terms(reign.round)
        )
    name = discipline(lineup.contest, reign.round)
    rivals = [
        one
        for one in lineup.archive.entries()
        if one.round <= reign.round
        and discipline(lineup.contest, one.round) == name
        and could_win(one)
    ]
    held = holds(entry.measured, found, rivals=len(rivals))
    return Confirmation(reign.digest, reign.agent, reign.round, entry.measured, found, held)


def _in_parallel(
    turns: Sequence[Callable[[], None]], *, jobs: int, machine: Machine, meters: AttemptMeters
) -> None:
    """Run all, at most `jobs` at once. The first failure ends the others, and is raised."""
    waiting = deque(turns)
    failures: list[BaseException] = []

    def work() -> None:
        while not failures:
            try:
                turn = waiting.popleft()
            except IndexError:
                return
            try:
                turn()
            except BaseException as error:
                failures.append(error)

    machine.go_on()
    count = max(1, min(jobs, len(turns)))
    threads = [threading.Thread(target=work, daemon=True) for _ in range(count)]
    try:
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads) and not failures:
            _wait(threads, _BEAT_S)
            meters.beat()
        if failures:
            machine.interrupt()
            _wait(threads, _GRACE_S)
    except KeyboardInterrupt:
        machine.interrupt()
        _wait(threads, _GRACE_S)
        raise
    told = [error for error in failures if not isinstance(error, Interrupted)]
    if failures:
        raise (told or failures)[0]


def _wait(threads: Sequence[threading.Thread], seconds: float) -> None:
    """Until all that were begun have ended, or the time is over."""
    until = time.monotonic() + seconds
    for thread in threads:
        if thread.ident is not None:
            thread.join(max(0.0, until - time.monotonic()))
