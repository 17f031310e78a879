"""Turns played on the nodes of a cluster.

    turns = RemoteTurns(calls, archive.settings, contest, say=print)

An embedded agent plays in a process of the node. Of a command-line agent the node has the walled
tree of processes and nothing else: its proxy, the key of its model, meter, clock and transcript
stay in this process, to which a supervisor passes on what the tree prints and asks. What it checks
is measured on its node, outside the tree, on the core of the turn.

A contest on cards is played on nodes that offer one. The tree is given the card that Ray gives its
supervisor, as agents of one machine are given that machine's; a check is a measurement like those
of the judge, on a card of the node. An embedded agent computes in this process, and has its node
for its checks. A measurement waits in the queue of its host (`sandbox.gpu.card_queue`), and agents'
clocks stand still while something is measured on their node, as on one machine.

Covered: nodes that cannot run an agent, which are told once and get no turn of it; none that can,
which is an error at the start; a turn without any node left, which is played here, and in a contest
on cards nowhere: that is an error.
Not covered: an agent that holds its own key, which is refused: the key would leave this machine.
"""

from __future__ import annotations

import contextlib
import shutil
import threading
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path

from unhack.agents.play import AgentTree, AttemptClock, Play
from unhack.core.errors import SandboxError, SandboxUnavailableError, UnhackError, UsageError
from unhack.sandbox.workspace.process_tree import ProcessTreePlan
from unhack.store.errors import storing
from unhack.tasks.execution.bound_files import fingerprints_of
from unhack.tasks.execution.ray.cluster import NodeInfo, NodeLostError, StoppedError
from unhack.tasks.execution.ray.remote_calls import NodeClaim, NodeSlot, RemoteCalls
from unhack.tasks.execution.ray.remote_tree import RemoteProcessTree
from unhack.tournament.contest import Contest, Measurement, NeedsCard, agents_card
from unhack.tournament.judging.machine_lock import Clock, Machine
from unhack.tournament.judging.submission import contents, write_files
from unhack.tournament.players.command_player import CommandPlayer, assignment_of
from unhack.tournament.players.player import Player
from unhack.tournament.players.registry import is_embedded
from unhack.tournament.record.records import TournamentSettings
from unhack.tournament.round.attempt import DevelopmentCheck, Interrupted, PreparedAttempt
from unhack.tournament.round.judge_executor import (
    check_request,
    measure_request,
    measuring_claim,
)
from unhack.tournament.round.turn_executor import LocalTurnSlot, TurnSlot, play_guarded
from unhack.tournament.round.turn_requests import (
    PlacementRequest,
    PlacementResponse,
    PlayRequest,
    placement_request,
    play_request,
)

_LOOK_S = 0.5
_ALONE_S = 60.0
"""Seconds without any node that can run an agent, after which it plays here."""
_MAX_LOSSES = 3
"""Nodes that may be lost with one turn; after that it plays here."""
_PATIENCE_S = 300.0
"""Seconds in which the first node has to answer, or one with a card."""


@dataclass(frozen=True, slots=True)
class CardTerms:
    """The part that cards of nodes have in the turns of a contest."""

    claim: NodeClaim
    """Of a measurement."""
    device: str
    """The card that an agent's tree is given on its node (`cuda`); empty for none."""


def card_terms(contest: Contest) -> CardTerms | None:
    """Those of a contest; None where it needs no card."""
    if not isinstance(contest, NeedsCard):
        return None
    return CardTerms(measuring_claim(contest), agents_card(contest))


class NodeClock:
    """An agent's time: that of a clock without the seconds for which its node stood still."""

    def __init__(self, clock: AttemptClock, paused_s: Callable[[], float]) -> None:
        """`paused_s` tells those seconds since some start."""
        self._clock, self._paused_s = clock, paused_s
        self._before_s = paused_s()

    def elapsed_s(self) -> float:
        """See `AttemptClock`."""
        return max(0.0, self._clock.elapsed_s() - (self._paused_s() - self._before_s))


@dataclass(frozen=True, slots=True)
class RemoteTurnSlot:
    """Room on a node."""

    player: Player
    slot: NodeSlot
    found: PlacementResponse
    settings: TournamentSettings
    machine: Machine
    cards: CardTerms | None = None

    @property
    def node(self) -> str:
        """See `TurnSlot`."""
        return full_name(self.slot.node)

    def start_clock(self, machine: Machine) -> AttemptClock:
        """See `TurnSlot`."""
        pauses, node = self.slot.pauses, self.slot.node.id
        return NodeClock(Clock(machine), lambda: pauses.paused_s(node))

    def play(self, attempt: PreparedAttempt) -> Play:
        """See `TurnSlot`. Raises Interrupted."""
        try:
            if isinstance(self.player, CommandPlayer):
                return self._play_command(self.player, attempt)
            if self.cards is not None:
                check = replace(attempt.check, measure=self._measure)
                return play_guarded(self.player.play, replace(attempt.inputs, check=check))
            return self._play_embedded(attempt)
        except StoppedError:
            raise Interrupted from None

    def _play_command(self, player: CommandPlayer, attempt: PreparedAttempt) -> Play:
        check = replace(attempt.check, measure=self._measure)
        assignment = replace(
            assignment_of(replace(attempt.inputs, check=check)),
            files=self.found.files,
            packages=Path(self.found.packages) if self.found.packages else None,
            start_clock=lambda: self.start_clock(self.machine),
            hold=self._hold,
            tree=self._tree,
        )
        return play_guarded(lambda _: player.agent.play(assignment), attempt.inputs)

    def _tree(self, command: list[str], plan: ProcessTreePlan) -> RemoteProcessTree:
        assert isinstance(self.player, CommandPlayer)
        card = self.player.agent.card(self.cards.device if self.cards else "")
        supervisor = self.slot.start_supervisor(card=card is not None)
        return RemoteProcessTree(
            command, plan, supervisor=supervisor, lost=lambda: self.slot.lost, card=card
        )

    def _hold(self, tree: AgentTree) -> AbstractContextManager[None]:
        assert isinstance(tree, RemoteProcessTree)
        return self.slot.pauses.registered(self.slot.node.id, tree)

    def _measure(self, check: DevelopmentCheck, folder: Path) -> Measurement:
        request = measure_request(
            self.settings, check.contest, folder, seed=check.seed, terms=check.terms
        )
        claim = self.cards.claim if self.cards else NodeClaim.NOTHING
        return self.slot.run(check_request, request, claim=claim, stop=self._stopped)

    def _stopped(self) -> bool:
        return self.machine.interrupted

    def _play_embedded(self, attempt: PreparedAttempt) -> Play:
        inputs = attempt.inputs
        request = PlayRequest(
            self.settings,
            self.player.name,
            inputs.terms,
            attempt.files,
            seed=inputs.seed,
            check_seed=attempt.check.seed,
            cost_limit_usd=inputs.cost_limit_usd,
            own_best=inputs.own_best,
            memory=contents(inputs.memory),
        )
        reply = self.slot.run(play_request, request, claim=NodeClaim.CORE, stop=self._stopped)
        with storing(inputs.workspace):
            shutil.rmtree(inputs.workspace)
            inputs.workspace.mkdir(mode=0o700)
            write_files(reply.workspace, inputs.workspace)
            write_files(reply.transcript, inputs.transcript)
            write_files(reply.memory, inputs.memory)
        attempt.meter.check(reply.checks)
        return reply.play


@dataclass(slots=True)
class _Eligible:
    """The nodes that can run one agent, and those that cannot."""

    turns: str
    """The turns, in words."""
    request: PlacementRequest
    found: dict[str, PlacementResponse] = field(default_factory=dict[str, PlacementResponse])
    refused: dict[str, str] = field(default_factory=dict[str, str])
    """Node -> why not, in a sentence."""
    able_at: float = field(default_factory=time.monotonic)
    """When there last was a node that can."""
    asking: threading.Lock = field(default_factory=threading.Lock)


class RemoteTurns:
    """See `TurnExecutor`. `say` is given a line for people."""

    def __init__(
        self,
        calls: RemoteCalls,
        settings: TournamentSettings,
        contest: Contest,
        *,
        say: Callable[[str], None],
    ) -> None:
        self._calls, self._settings, self._say = calls, settings, say
        self._cards = card_terms(contest)
        self._known: dict[str, _Eligible] = {}
        self._lock = threading.Lock()

    def check(self, players: Sequence[Player]) -> None:
        """See `TurnExecutor`: at least one node that answers can run each. Raises UsageError for
        an agent that holds its own key, SandboxUnavailableError with what each node lacks."""
        for player in players:
            if isinstance(player, CommandPlayer) and player.agent.adapter.key_variable:
                raise UsageError(
                    f"{player.name} holds its own key, which must not leave this machine: play it "
                    "without --executor ray"
                )
        until = time.monotonic() + _PATIENCE_S
        for player in filter(_is_movable, players):
            eligible = self._eligible(player)
            while not self._able(eligible, lambda: time.monotonic() > until):
                nodes = self._nodes()
                if nodes and all(node.id in eligible.refused for node in nodes):
                    told = "; ".join(eligible.refused[node.id] for node in nodes)
                    raise SandboxUnavailableError(f"no node can run {player.name}. {told}")
                if time.monotonic() > until:
                    raise SandboxUnavailableError(
                        f"no node of the cluster that offers a {'GPU' if self._cards else 'core'} "
                        f"has answered for {_PATIENCE_S:.0f} s; `ray status` shows the cluster"
                    )
                time.sleep(_LOOK_S)

    @contextlib.contextmanager
    def slot(
        self, player: Player, machine: Machine, *, lost_on: Sequence[str] = ()
    ) -> Generator[TurnSlot]:
        """See `TurnExecutor`."""
        here = len(lost_on) >= _MAX_LOSSES
        if here and self._cards is not None:
            raise SandboxError(
                f"{len(lost_on)} nodes were lost with a turn of {player.name}, the last was "
                f"{lost_on[-1]}; resume the tournament when they are back"
            )
        movable = _is_movable(player) and not here
        found = self._find(player, machine, lost_on) if movable else None
        if found is None:
            yield LocalTurnSlot(player)
            return
        slot, response = found
        try:
            yield RemoteTurnSlot(player, slot, response, self._settings, machine, self._cards)
        finally:
            slot.leave()

    def _find(
        self, player: Player, machine: Machine, avoid: Sequence[str]
    ) -> tuple[NodeSlot, PlacementResponse] | None:
        """Room on a node; None where no node is left. Raises Interrupted."""
        eligible = self._eligible(player)
        eligible.able_at = time.monotonic()
        while True:
            if machine.interrupted:
                raise Interrupted
            able = self._able(eligible, lambda: machine.interrupted)
            names = {full_name(node): node.id for node in self._nodes() if node.id in able}
            able = {key for name, key in names.items() if name not in avoid} or able
            slot = self._calls.take_slot(lambda node, able=able: node.id in able)
            if slot is not None:
                return slot, eligible.found[slot.node.id]
            alone_s = time.monotonic() - eligible.able_at
            if self._cards is not None and alone_s > _PATIENCE_S:
                raise SandboxError(
                    f"no node with a card is left that can run {player.name}; resume the "
                    "tournament when there is one"
                )
            if self._cards is None and alone_s > _ALONE_S:
                self._say(f"no node is left that can run {player.name}: it plays on this machine")
                return None
            time.sleep(_LOOK_S)

    def _eligible(self, player: Player) -> _Eligible:
        agent = player.agent if isinstance(player, CommandPlayer) else None
        name = player.name if agent else ""
        with self._lock:
            if name not in self._known:
                request = PlacementRequest(self._settings, on_card=self._cards is not None)
                turns = "turns of embedded agents"
                if agent is not None:
                    shown = fingerprints_of(agent.wanted.shown)
                    card = agent.card(self._cards.device if self._cards else "")
                    request = replace(request, wanted=agent.wanted, shown=shown, card=card)
                    turns = f"turns of {name}"
                self._known[name] = _Eligible(turns, request)
            return self._known[name]

    def _able(self, eligible: _Eligible, stop: Callable[[], bool]) -> set[str]:
        """Ids of the nodes that answer and can run it; new ones are asked."""
        nodes = self._nodes()
        with eligible.asking:
            for node in nodes:
                if node.id not in eligible.found and node.id not in eligible.refused and not stop():
                    self._ask(node, eligible, stop)
        able = {node.id for node in nodes if node.id in eligible.found}
        if able:
            eligible.able_at = time.monotonic()
        return able

    def _nodes(self) -> list[NodeInfo]:
        """Those that answer, and have a card where one is needed."""
        return [node for node in self._calls.nodes() if self._cards is None or node.cards]

    def _ask(self, node: NodeInfo, eligible: _Eligible, stop: Callable[[], bool]) -> None:
        try:
            # Another version of unhack there shows before a card is needed.
            self._calls.ask(node, len, "", claim=NodeClaim.NOTHING, stop=stop)
            claim = NodeClaim.SHARED_CARD if self._cards else NodeClaim.NOTHING
            eligible.found[node.id] = self._calls.ask(
                node, placement_request, eligible.request, claim=claim, stop=stop
            )
        except (NodeLostError, StoppedError):
            return
        except UnhackError as error:
            told = f"{full_name(node)} is given no {eligible.turns}: {error}"
            eligible.refused[node.id] = told
            self._say(told)


def full_name(node: NodeInfo) -> str:
    """The address of a node and the start of its id: several may share an address."""
    return f"{node.name}/{node.id[:8]}"


def _is_movable(player: Player) -> bool:
    return isinstance(player, CommandPlayer) or is_embedded(player)
