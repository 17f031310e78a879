"""A tournament at play: agents by name, who judges, and what is said meanwhile."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unhack.tournament.contest import Contest
    from unhack.tournament.players.player import Player
    from unhack.tournament.record.archive import Archive
    from unhack.tournament.record.records import Entry, TournamentRecord
    from unhack.tournament.round.bench import JudgeBench

EXECUTORS = ("local", "ray")
"""Names of `--executor`."""


def check_executor(name: str | None, contest: Contest) -> None:
    """Raise UnknownNameError for another name, UsageError where Ray is not installed or a contest
    cannot be judged there."""
    from unhack.core.errors import UnknownNameError
    from unhack.core.extras import require
    from unhack.tournament.round.bench import check_movable

    if name not in (None, *EXECUTORS):
        raise UnknownNameError("executor", name, valid=EXECUTORS)
    if name == "ray":
        require("ray", "ray", purpose="--executor ray")
        check_movable(contest)


@contextlib.contextmanager
def bench_on(name: str | None, archive: Archive, contest: Contest) -> Generator[JudgeBench]:
    """The bench of that name for a block of code. Raises UsageError."""
    from unhack.tournament.round.bench import HERE, BenchElsewhere

    if name != "ray":
        yield HERE
        return
    from unhack.tasks.execution.cluster.ray_errands import RayErrands

    errands = RayErrands()
    try:
        yield BenchElsewhere(errands, archive.settings, contest)
    finally:
        errands.close()


def makes(
    contest: Contest, options: Any, *, check: tuple[str, ...] = ()
) -> Callable[[str], Player]:
    """Makes agents by name; those of `check` once, so that a wrong name shows at once."""
    from unhack.tournament.players.registry import make_player

    def make(name: str) -> Player:
        return make_player(name, contest, options=options)

    for name in check:
        make(name)
    return make


def play_shown(
    archive: Archive, contest: Contest, *, jobs: int | None, bench: JudgeBench
) -> TournamentRecord:
    """Play what is left and say how it goes."""
    import os

    from unhack.cli import terminal
    from unhack.cli.heartbeat import Headway
    from unhack.cli.tournament import screen
    from unhack.tournament.judging.load import busy_words
    from unhack.tournament.record.entry_state import EntryState
    from unhack.tournament.round.rounds import play, seat_all

    warning = busy_words() if contest.exclusive else ""
    if warning:
        terminal.remarks().print(warning, style="yellow", soft_wrap=True)
    make = makes(contest, archive.settings.agent_options)
    count = jobs or len(os.sched_getaffinity(0))
    seating = seat_all(archive, contest, make=make, bench=bench)
    done = sum(entry.state is EntryState.COMMITTED for entry in archive.entries())
    headway = Headway("playing", len(seating.places) * archive.settings.rounds, done)
    try:
        with _interrupt_on_sigterm(), terminal.working(headway) as shown:
            console = terminal.remarks()

            def watch(entry: Entry) -> None:
                console.print(screen.entry_line(entry), soft_wrap=True)
                headway.advance()
                headway.note = f"last: {entry.agent}, round {entry.round}"
                shown()

            return play(seating, jobs=count, watch=watch)
    except KeyboardInterrupt:
        text = f"Interrupted. Resume with: unhack tournament resume {archive.path}"
        terminal.remarks().print(text, soft_wrap=True)
        raise


@contextlib.contextmanager
def _interrupt_on_sigterm() -> Generator[None]:
    """SIGTERM ends the block as Ctrl-C does."""

    def stop(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
