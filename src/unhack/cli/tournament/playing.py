"""A tournament at play: agents by name, who judges, and what is said meanwhile."""

from __future__ import annotations

import contextlib
import functools
import signal
from collections.abc import Callable, Generator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from unhack.cli import terminal
from unhack.core.errors import UnknownNameError, UsageError

if TYPE_CHECKING:
    from unhack.tasks.execution.ray.remote_calls import RemoteCalls
    from unhack.tournament.contest import Contest
    from unhack.tournament.players.player import Player
    from unhack.tournament.record.archive import Archive
    from unhack.tournament.record.records import Entry, TournamentRecord
    from unhack.tournament.record.settings import TournamentPlan
    from unhack.tournament.round.judge_executor import JudgeExecutor
    from unhack.tournament.round.turn_executor import TurnExecutor

EXECUTORS = ("local", "ray")
"""Names of `--executor`."""


Connect = Callable[[], "RemoteCalls"]
"""Reaches the cluster, once."""


@contextlib.contextmanager
def reaching(name: str | None) -> Generator[Connect | None]:
    """The way to the cluster of an executor, for a block of code; None for this machine. Raises
    UnknownNameError for another name, UsageError where Ray is not installed."""
    from unhack.core.optional_dependencies import require

    if name not in (None, *EXECUTORS):
        raise UnknownNameError("executor", name, valid=EXECUTORS)
    if name != "ray":
        yield None
        return
    require("ray", "ray", purpose="--executor ray")
    from unhack.tasks.execution.ray.remote_calls import RemoteCalls

    with contextlib.ExitStack() as stack:

        @functools.cache
        def connect() -> RemoteCalls:
            calls = RemoteCalls()
            stack.callback(calls.close)
            return calls

        yield connect


def with_card(plan: TournamentPlan, connect: Connect | None) -> TournamentPlan:
    """The plan with the name of the card that measures it, where nodes of a cluster have the cards.
    Raises UsageError, SandboxUnavailableError where there is none."""
    from unhack.sandbox.gpu.cards import name_of
    from unhack.tasks.execution.ray.remote_calls import NodeClaim
    from unhack.tournament.contests.registry import installed_contests

    device = plan.options.get("device", "cpu")
    installed = installed_contests().get(plan.contest)
    asked = installed is not None and installed.on_card and device != "cpu"
    if connect is None or not asked or "card" in plan.options:
        return plan
    if device != "cuda":
        raise UsageError(
            f"device={device} is a card of one machine; with --executor ray say device=cuda: Ray "
            "chooses the card"
        )
    calls = connect()
    calls.check_cards()
    name = calls.run(name_of, device, claim=NodeClaim.CARD)
    return replace(plan, options={**plan.options, "card": name})


def check_place(contest: Contest, options: Mapping[str, str], connect: Connect | None) -> None:
    """Raise UsageError, SandboxUnavailableError, SandboxError where a contest of these options
    cannot be judged."""
    from unhack.tasks.execution.ray.remote_calls import NodeClaim
    from unhack.tournament.contest import NeedsCard
    from unhack.tournament.round.judge_executor import check_card_request, check_movable

    if connect is not None:
        check_movable(contest)
    if not isinstance(contest, NeedsCard):
        return
    if connect is None:
        contest.check_card()
        return
    connect().check_cards()
    connect().run(check_card_request, (contest.name, dict(options)), claim=NodeClaim.CARD)


def judges_on(connect: Connect | None, archive: Archive, contest: Contest) -> JudgeExecutor:
    """The judge: this process, or machines of a cluster."""
    from unhack.tournament.round.judge_executor import LOCAL_JUDGES, RemoteJudges

    return LOCAL_JUDGES if connect is None else RemoteJudges(connect(), archive.settings, contest)


def turns_on(connect: Connect | None, archive: Archive, contest: Contest) -> TurnExecutor:
    """The place where agents play: this process, or machines of a cluster."""
    from unhack.tournament.round.remote_turns import RemoteTurns
    from unhack.tournament.round.turn_executor import LOCAL_TURNS

    if connect is None:
        return LOCAL_TURNS

    def say(line: str) -> None:
        terminal.remarks().print(line, style="yellow", soft_wrap=True, markup=False)

    return RemoteTurns(connect(), archive.settings, contest, say=say)


def makes(
    contest: Contest, options: Any, *, check: tuple[str, ...] = ()
) -> Callable[[str], Player]:
    """Makes agents by name; those of `check` once, so that a wrong name shows at once."""
    from unhack.agents.registry import check_addressed
    from unhack.tournament.players.registry import make_player

    def make(name: str) -> Player:
        return make_player(name, contest, options=options)

    for name in check:
        make(name)
    if check:
        check_addressed(options, check)
    return make


def play_shown(
    archive: Archive, contest: Contest, *, jobs: int | None, connect: Connect | None
) -> TournamentRecord:
    """Play what is left and say how it goes."""
    import os

    from unhack.cli.progress import CommandProgress
    from unhack.cli.tournament import screen
    from unhack.tournament.judging.load import busy_words
    from unhack.tournament.record.entry_state import EntryState
    from unhack.tournament.round.rounds import line_up, play

    judges, turns = judges_on(connect, archive, contest), turns_on(connect, archive, contest)
    warning = busy_words() if contest.exclusive and judges.is_local else ""
    if warning:
        terminal.remarks().print(warning, style="yellow", soft_wrap=True)
    make = makes(contest, archive.settings.agent_options)
    count = jobs or len(os.sched_getaffinity(0))
    lineup = line_up(archive, contest, make=make, judges=judges, turns=turns)
    if not archive.finished:
        turns.check([place.player for place in lineup.participants])
    done = sum(entry.state is EntryState.COMMITTED for entry in archive.entries())
    progress = CommandProgress("playing", len(lineup.participants) * archive.settings.rounds, done)
    try:
        with _interrupt_on_sigterm(), terminal.working(progress) as shown:
            console = terminal.remarks()

            def watch(entry: Entry) -> None:
                console.print(screen.entry_line(entry), soft_wrap=True)
                progress.advance()
                progress.note = f"last: {entry.agent}, round {entry.round}"
                shown()

            return play(lineup, jobs=count, watch=watch)
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
