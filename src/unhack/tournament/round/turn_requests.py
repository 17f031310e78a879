"""Turns on their way to another machine, and what is done with them there.

Covered: that machine loads the contest by its name and options, and takes no turn unless its rules,
sources and data are those of the tournament. A request has the seed of the agent and that of its
development data; neither the secret of the tournament nor a seed of the judge follows from them.
Not covered: the processes of command-line agents; a supervisor holds them, and this machine's proxy
and meter lead them.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from unhack.agents.command_line.host_files import WantedFiles
from unhack.agents.play import HostFiles, Play
from unhack.core.errors import UsageError
from unhack.sandbox.gpu.tree_card import TreeCard, with_card
from unhack.sandbox.workspace.process_tree import ProcessTree, ProcessTreePlan
from unhack.tasks.execution.bound_files import Fingerprints, first_difference
from unhack.tournament.contest import Equipped, Files, NeedsCard, Terms, in_round
from unhack.tournament.judging.machine_lock import MACHINE, Clock
from unhack.tournament.judging.submission import contents, write_files
from unhack.tournament.players.builtin.embedded import make_embedded
from unhack.tournament.players.player import TurnInputs
from unhack.tournament.record.records import TournamentSettings
from unhack.tournament.round.attempt import DevelopmentCheck
from unhack.tournament.round.judge_executor import check_here, contest_of
from unhack.tournament.round.metering import AttemptMeter
from unhack.tournament.round.turn_executor import play_guarded
from unhack.tournament.round.workspace_files import WorkspaceFiles

_TRIAL_S = 60.0


@dataclass(frozen=True, slots=True)
class PlacementRequest:
    """The needs of an agent on a machine that runs it."""

    settings: TournamentSettings
    wanted: WantedFiles | None = None
    """Of a command-line agent."""
    shown: Fingerprints = ()
    """Files that its command line or an option names."""
    on_card: bool = False
    """True where its checks are measured on a card of that machine."""
    card: TreeCard | None = None
    """The card that its tree is given there."""


@dataclass(frozen=True, slots=True)
class PlacementResponse:
    """The answer of a machine that can run an agent."""

    files: HostFiles | None = None
    packages: str = ""
    """The folder of the contest's packages there; empty for none."""


@dataclass(frozen=True, slots=True)
class PlayRequest:
    """A turn of an embedded agent."""

    settings: TournamentSettings
    player: str
    terms: Terms
    files: WorkspaceFiles
    seed: int
    check_seed: int
    cost_limit_usd: float
    own_best: Files | None
    memory: Files


@dataclass(frozen=True, slots=True)
class PlayResponse:
    """The end of such a turn."""

    play: Play
    workspace: Files
    transcript: Files
    memory: Files
    checks: int


def placement_request(request: PlacementRequest) -> PlacementResponse:
    """See whether an agent can run on this machine. Raises UsageError for rules, a program or
    files that differ or are missing, SandboxUnavailableError where it cannot be walled in, or where
    there is no card of the tournament's kind."""
    contest = contest_of(request.settings)
    if request.on_card:
        assert isinstance(contest, NeedsCard)
        contest.check_card()
    if request.wanted is None:
        return PlacementResponse()
    if differs := first_difference(request.shown):
        raise UsageError(differs)
    files = request.wanted.find()
    plan = with_card(ProcessTreePlan(binds=(*files.binds, *files.packages)), request.card)
    with ProcessTree(["/bin/true"], plan=plan, name="trial") as tree:
        tree.wait(timeout_s=_TRIAL_S)
    packages = contest.packages if isinstance(contest, Equipped) else None
    return PlacementResponse(files, "" if packages is None else str(packages))


def play_request(request: PlayRequest) -> PlayResponse:
    """Play a turn of an embedded agent on this machine. Raises UsageError, SandboxError."""
    contest = contest_of(request.settings)
    player = make_embedded(request.player, contest)
    if player is None:
        raise UsageError(f"{request.player} is no embedded agent here")
    played = in_round(contest, request.terms)
    with tempfile.TemporaryDirectory(prefix="unhack-turn-") as room:
        places = {name: Path(room) / name for name in ("workspace", "transcript", "memory", "work")}
        for place in places.values():
            place.mkdir()
        write_files(request.files.files, places["workspace"])
        write_files(request.memory, places["memory"])
        clock = Clock()
        meter = AttemptMeter(Path(room) / "meter.json", places["transcript"], clock=clock)
        limit_s = request.settings.time_limit_s
        check = DevelopmentCheck(
            played,
            request.terms,
            request.files,
            request.check_seed,
            limit_s,
            room=places["work"],
            machine=MACHINE,
            clock=clock,
            meter=meter,
            measure=lambda check, folder: check_here(check.contest, folder, seed=check.seed),
        )
        inputs = TurnInputs(
            played,
            request.terms,
            places["workspace"],
            check,
            seed=request.seed,
            time_limit_s=limit_s,
            cost_limit_usd=request.cost_limit_usd,
            transcript=places["transcript"],
            memory=places["memory"],
            own_best=request.own_best,
        )
        play = play_guarded(player.play, inputs)
        kept = (contents(places[name]) for name in ("workspace", "transcript", "memory"))
        return PlayResponse(play, *kept, checks=meter.now().checks)
