"""Turns played on other machines: the same tournament, one result each, and no secret there."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from tests.unit.tasks.execution.ray.local_supervisor import LocalSupervisor, crossed
from tests.unit.tournament.hill import HILL, plan, played

from unhack.agents.play import PlayEnding
from unhack.agents.registry import ADAPTERS
from unhack.core.errors import SandboxUnavailableError, UsageError
from unhack.sandbox.distributions import versions
from unhack.tasks.execution.ray.cluster import NodeInfo, NodeLostError
from unhack.tasks.execution.ray.pause import NodePauses
from unhack.tasks.execution.ray.remote_calls import NodeClaim, answer, result_of
from unhack.tournament.players.command_player import CommandPlayer
from unhack.tournament.players.registry import make_player
from unhack.tournament.record.archive import read_record
from unhack.tournament.record.records import Entry, TournamentRecord
from unhack.tournament.review.canonical import canonical_hash
from unhack.tournament.round import judge_executor, remote_turns
from unhack.tournament.round.judge_executor import check_request
from unhack.tournament.round.remote_turns import RemoteTurns
from unhack.tournament.round.rounds import begin, line_up, play, reopen
from unhack.tournament.round.turn_requests import placement_request, play_request

pytestmark = pytest.mark.slow

ANSWER = """echo '{"x": 0.65, "y": 0.3}' > answer.json"""
VERSIONS = versions()


@dataclass
class Node:
    """A machine of this process."""

    info: NodeInfo
    known: dict[str, str] = field(default_factory=VERSIONS.copy)
    fault: Exception | None = None
    """Raised by whoever asks whether it can run an agent."""
    lost: str = ""
    held: int = 0
    given: int = 0
    """Slots so far."""
    supervisors: list[LocalSupervisor] = field(default_factory=list)

    def lose(self) -> None:
        """Lose it with all that it does."""
        self.lost = "the node is gone"
        for supervisor in self.supervisors:
            supervisor.lose()


class Nodes:
    """See `RemoteCalls`: calls and results cross as bytes; all that was sent is kept."""

    def __init__(self, *names: str) -> None:
        self.known = {name: Node(NodeInfo(f"{name}0123456789", name, 1)) for name in names}
        self.sent: list[Any] = []
        self.called: list[Callable[[Any], Any]] = []
        self.claims: list[tuple[Any, NodeClaim]] = []
        self.cards: list[bool] = []
        """Of each supervisor, whether it has a card."""
        self.pauses = NodePauses()
        self._lock = threading.Lock()

    def nodes(self) -> Sequence[NodeInfo]:
        """See `RemoteCalls`."""
        return [node.info for node in self.known.values() if not node.lost]

    def ask(self, info: NodeInfo, function: Any, value: Any, **_: Any) -> Any:
        """See `RemoteCalls`."""
        node = self.known[info.name]
        self.sent.append(value)
        self.called.append(function)
        if node.lost:
            raise NodeLostError(node.lost)

        def work(given: Any) -> Any:
            if node.fault is not None and function is placement_request:
                raise node.fault
            return function(given)

        found = result_of(crossed(answer(work, crossed(value), node.known)))
        if node.lost:
            raise NodeLostError(node.lost)
        return found

    def take_slot(self, allows: Callable[[NodeInfo], bool]) -> Slot | None:
        """See `RemoteCalls`."""
        with self._lock:
            for node in sorted(self.known.values(), key=lambda one: one.given):
                if not node.lost and node.held < node.info.slots and allows(node.info):
                    node.held += 1
                    node.given += 1
                    return Slot(self, node)
        return None


@dataclass
class Slot:
    """See `NodeSlot`."""

    nodes: Nodes
    at: Node

    @property
    def node(self) -> NodeInfo:
        return self.at.info

    @property
    def lost(self) -> str:
        return self.at.lost

    def run(self, function: Any, value: Any, *, claim: NodeClaim = NodeClaim.CORE, **_: Any) -> Any:
        self.nodes.claims.append((function, claim))
        quiet = claim is NodeClaim.QUIET_CARD
        with self.pauses.measuring(self.at.info.id, quiet=quiet):
            return self.nodes.ask(self.at.info, function, value)

    @property
    def pauses(self) -> NodePauses:
        return self.nodes.pauses

    def start_supervisor(self, *, card: bool) -> LocalSupervisor:
        self.nodes.cards.append(card)
        made = LocalSupervisor(self.nodes.sent.append)
        self.at.supervisors.append(made)
        return made

    def leave(self) -> None:
        self.at.held -= 1


@pytest.fixture(autouse=True)
def hill_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """The toy contest is found by its name, as the contests of the package are."""
    monkeypatch.setattr(judge_executor, "load_contest", lambda name, options: HILL)
    judge_executor._loaded.cache_clear()  # pyright: ignore[reportPrivateUsage]


def played_on(
    path: Path,
    nodes: Nodes,
    *agents: str,
    said: list[str] | None = None,
    options: dict[str, str] | None = None,
    rounds: int = 1,
) -> TournamentRecord:
    """A whole tournament on nodes; goes on with one that is there."""
    wanted = plan(*agents, rounds=rounds)
    archive = reopen(path) if path.exists() else begin(path, wanted, HILL, seed=3)
    lines = [] if said is None else said

    def make(name: str) -> Any:
        return make_player(name, HILL, options=options or {})

    with archive:
        turns = RemoteTurns(nodes, archive.settings, HILL, say=lines.append)  # type: ignore[arg-type]
        lineup = line_up(archive, HILL, make=make, turns=turns)
        turns.check([place.player for place in lineup.participants])
        return play(lineup, jobs=2)


def agent(folder: Path, line: str) -> str:
    """A shell script as an agent."""
    script = folder / "agent.sh"
    script.write_text(line)
    script.chmod(0o644)
    return f"mine=/bin/sh {script}"


def of(record: TournamentRecord, name: str) -> Entry:
    [found] = [one for one in record.entries if one.agent.partition("=")[0] == name]
    return found


def when(condition: Callable[[], bool], act: Callable[[], None]) -> threading.Thread:
    """Act once something is so."""

    def wait() -> None:
        until = time.monotonic() + 120
        while not condition() and time.monotonic() < until:
            time.sleep(0.05)
        act()

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    return thread


def test_a_tournament_played_on_nodes_is_the_same_one(tmp_path: Path) -> None:
    agents = ("search", "cheater", "baseline:near")
    here = played(tmp_path / "here", plan(*agents, rounds=3))
    nodes = Nodes("a", "b")
    there = played_on(tmp_path / "there", nodes, *agents, rounds=3)
    assert canonical_hash(there) == canonical_hash(here)
    assert {entry.played_on for entry in there.entries} == {"a/a0123456", "b/b0123456"}
    assert nodes.called.count(play_request) == len(there.entries)
    usage = {entry.usage.checks for entry in there.entries if entry.agent == "search"}
    assert usage == {entry.usage.checks for entry in here.entries if entry.agent == "search"}


def test_a_command_line_agent_plays_and_checks_on_its_node(tmp_path: Path) -> None:
    nodes = Nodes("a")
    line = f"{ANSWER}; unhack-check; echo done"
    record = played_on(tmp_path / "out", nodes, agent(tmp_path, line))
    entry = of(record, "mine")
    assert (entry.ended, entry.note) == (PlayEnding.FINISHED, "")
    assert (entry.played_on, entry.lost_on, entry.attempts) == ("a/a0123456", (), 1)
    assert entry.usage.checks == 1
    checks = [claim for function, claim in nodes.claims if function is check_request]
    assert checks == [NodeClaim.NOTHING], "its turn has the core"
    assert entry.fitness > 0
    [transcript] = (tmp_path / "out" / "transcripts" / "0001").glob("*mine*/attempt-1")
    said = (transcript / "stdout.jsonl").read_text()
    assert "development data" in said
    assert said.endswith("done\n")
    assert not list((tmp_path / "out" / "work").iterdir())


def test_no_secret_and_no_seed_of_the_judge_goes_to_a_node(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "sk-only-here-1234567890"
    monkeypatch.setenv("ANTHROPIC_API_KEY", key)
    nodes = Nodes("a")
    line = f"{ANSWER}; unhack-check; env"
    options = {"mine.provider": "anthropic"}
    played_on(tmp_path / "out", nodes, agent(tmp_path, line), "search", options=options)
    with reopen(tmp_path / "out", read_only=True) as archive:
        lineup = line_up(archive, HILL, make=lambda name: make_player("null", HILL))
        seeds = [lineup.round_seed(1, purpose) for purpose in ("measure", "audit", "confirm")]
    told = "\n".join(map(repr, nodes.sent))
    assert "seed=" in told
    assert "ANTHROPIC_API_KEY" in told, "the agent has a token"
    for secret in (key, lineup.secret.hex(), repr(lineup.secret), *map(str, seeds)):
        assert secret not in told
    [transcript] = (tmp_path / "out" / "transcripts" / "0001").glob("*mine*/attempt-1")
    assert key not in (transcript / "stdout.jsonl").read_text()


@pytest.mark.slow
def test_a_turn_whose_node_is_lost_is_played_again_from_its_beginning(tmp_path: Path) -> None:
    nodes = Nodes("a", "b")
    line = f"ls > extra; {ANSWER}; echo at work; sleep 8; unhack-check"
    out = tmp_path / "out"

    def at_work() -> bool:
        logs = out.glob("transcripts/0001/*mine*/attempt-1/stdout.jsonl")
        return any(path.read_text() for path in logs)

    thread = when(at_work, lambda: next(n for n in nodes.known.values() if n.supervisors).lose())
    record = played_on(out, nodes, agent(tmp_path, line))
    thread.join()
    entry = of(record, "mine")
    [lost] = [node for node in nodes.known.values() if node.lost]
    assert entry.lost_on == (f"{lost.info.name}/{lost.info.id[:8]}",)
    assert entry.played_on not in ("", *entry.lost_on)
    assert entry.attempts == 2
    assert entry.ended is PlayEnding.FINISHED
    assert entry.usage.seconds > 8
    events = (out / "events.jsonl").read_text()
    assert events.count('"entry.frozen"') == len(record.entries)
    assert events.count('"lost"') == 1
    again = played_on(out, nodes, agent(tmp_path, line))
    assert again == record, "a finished turn was played again"


@pytest.mark.parametrize("name", ["baseline:near", "mine"])
def test_without_any_node_left_a_turn_is_played_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(remote_turns, "_ALONE_S", 0.5)
    nodes = Nodes("a")
    ask = nodes.ask

    def lose_with_first(info: NodeInfo, function: Any, value: Any, **rest: Any) -> Any:
        if function is play_request:
            nodes.known["a"].lost = "the node is gone"
        return ask(info, function, value, **rest)

    monkeypatch.setattr(nodes, "ask", lose_with_first)
    said: list[str] = []
    player = agent(tmp_path, ANSWER) if name == "mine" else name
    record = played_on(tmp_path / "out", nodes, player, said=said)
    assert {entry.played_on for entry in record.entries} == {""}
    assert max(entry.attempts for entry in record.entries) == 2
    assert of(record, name).fitness > 0
    assert f"no node is left that can run {name}: it plays on this machine" in said


def test_a_node_that_cannot_run_an_agent_gets_none_of_its_turns_and_says_so_once(
    tmp_path: Path,
) -> None:
    nodes = Nodes("old", "open", "bare", "good")
    nodes.known["old"].known = {"unhack": "0.0.1"}
    nodes.known["open"].fault = SandboxUnavailableError("no user namespaces")
    nodes.known["bare"].fault = UsageError("there is no claude on the PATH")
    said: list[str] = []
    record = played_on(tmp_path / "out", nodes, agent(tmp_path, ANSWER), said=said, rounds=2)
    assert {entry.played_on for entry in record.entries} == {"good/good0123"}
    refusals = [line for line in said if "is given no turns of mine" in line]
    assert len(refusals) == 3
    for name, why in (("old", "the caller has unhack 0.0.1"), ("open", "no user namespaces"),
                      ("bare", "no claude on the PATH")):  # fmt: skip
        assert any(name in line and why in line for line in refusals)


def test_where_no_node_can_run_an_agent_nothing_is_begun(tmp_path: Path) -> None:
    nodes = Nodes("a", "b")
    for node in nodes.known.values():
        node.fault = UsageError("there is no claude on the PATH")
    with pytest.raises(SandboxUnavailableError, match=r"no node can run null.*a/a0.*b/b0"):
        played_on(tmp_path / "out", nodes, "baseline:near")
    assert not read_record(tmp_path / "out").entries


def test_a_file_that_differs_on_a_node_keeps_the_agent_from_it(tmp_path: Path) -> None:
    nodes = Nodes("a")
    line = agent(tmp_path, ANSWER)
    made = make_player(line, HILL)
    assert isinstance(made, CommandPlayer)
    with begin(tmp_path / "out", plan(line), HILL, seed=3) as archive:
        turns = RemoteTurns(nodes, archive.settings, HILL, say=lambda line: None)  # type: ignore[arg-type]
        turns._eligible(made)  # pyright: ignore[reportPrivateUsage]
        (tmp_path / "agent.sh").write_text("echo another")
        with pytest.raises(SandboxUnavailableError, match=r"agent\.sh differs from the file"):
            turns.check([made])


def test_an_agent_that_holds_its_own_key_is_refused(tmp_path: Path) -> None:
    made = make_player(agent(tmp_path, ANSWER), HILL)
    assert isinstance(made, CommandPlayer)
    adapter = next(one for one in ADAPTERS.values() if one.key_variable)
    holds = CommandPlayer(replace(made.agent, adapter=adapter))
    nodes = Nodes("a")
    with begin(tmp_path / "out", plan("null"), HILL, seed=3) as archive:
        turns = RemoteTurns(nodes, archive.settings, HILL, say=lambda line: None)  # type: ignore[arg-type]
        with pytest.raises(UsageError, match="must not leave this machine"):
            turns.check([holds])
    assert not nodes.sent
