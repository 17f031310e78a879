"""Turns of agents on the nodes of a Ray: the same record, one result each, and no secret there."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tests.unit.agents.model_server import KEY, ModelServer, says
from tests.unit.tournament.contests.own.small import written

from unhack.agents.play import PlayEnding
from unhack.sandbox.linux.processes import children
from unhack.tournament.record.archive import read_record
from unhack.tournament.record.entry_state import EntryState
from unhack.tournament.record.records import Entry, TournamentRecord
from unhack.tournament.review.canonical import canonical_records

from .lost_nodes import START_S, patiently

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

COMMAND = """
import signal
from unhack.cli.app import main
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in background commands
raise SystemExit(main())
"""
CURIOUS = """
import glob, json, os, socket, subprocess, urllib.request
print(subprocess.run(["unhack-check"], capture_output=True, text=True).stdout, flush=True)
body = {"model": "claude-sonnet-4-5", "max_tokens": 64, "messages": []}
request = urllib.request.Request(
    os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", json.dumps(body).encode(),
    {"x-api-key": os.environ["ANTHROPIC_API_KEY"], "content-type": "application/json"},
)
print(urllib.request.urlopen(request).read().decode(), flush=True)
seen = dict(os.environ)
for path in glob.glob("/proc/[0-9]*/*") + glob.glob("/tmp/**", recursive=True):
    try:
        seen[path] = open(path, "rb").read(1 << 20).decode("latin-1")
    except OSError:
        continue
for top in ("/tmp/ray", "/dev/shm", "/var/tmp", "/dev"):
    seen[top + "?"] = os.listdir(top) if os.path.isdir(top) else None
for port in PORTS:
    with socket.socket() as probe:
        seen[f"port {port}"] = probe.connect_ex(("127.0.0.1", port))
print("SEEN " + json.dumps(seen), flush=True)
open("solution.py", "w").write("def length(text):\\n    return len(text)\\n")
"""
WAITS = """
import os, time
open("solution.py", "w").write("def length(text):\\n    return len(text)\\n")
print("at work", flush=True)
time.sleep(SECONDS)
"""


class Tournaments:
    """`unhack tournament` on a cluster, in processes of its own."""

    def __init__(self, cluster: Any, folder: Path) -> None:
        self.cluster, self.folder = cluster, folder
        self.contest = written(folder / "lengths")
        self.environ = {**os.environ, "RAY_ADDRESS": cluster.address}

    def agent(self, text: str, name: str = "mine") -> str:
        """A Python program as an agent."""
        script = self.folder / f"{name}.py"
        script.write_text(text)
        script.chmod(0o644)
        self.folder.chmod(0o755)
        return f"{name}=/usr/bin/env python3 {script}"

    def start(self, *words: str, executor: str = "ray") -> subprocess.Popen[str]:
        """Start a command."""
        line = [sys.executable, "-c", COMMAND, "tournament", *words]
        return subprocess.Popen(
            [*line, "--executor", executor], env=self.environ, text=True, cwd=self.folder,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip

    def run(self, out: str, *words: str, executor: str = "ray") -> TournamentRecord:
        """A whole tournament."""
        fixed = ("--option", "size=demo", "--seed", "3", "--rounds", "1")
        ended(self.start("run", "lengths", *fixed, *words, "--out", out, executor=executor))
        return read_record(self.folder / out)

    def events(self, out: str, kind: str) -> list[dict[str, Any]]:
        """The events of a kind, as they stand in the log."""
        log = self.folder / out / "events.jsonl"
        lines = log.read_text().splitlines() if log.exists() else []
        return [line for line in map(json.loads, lines) if kind in json.dumps(line)]

    def wait_at_work(self, out: str, command: subprocess.Popen[str], attempt: int = 1) -> str:
        """The node of the agent `mine`, once it has printed something there."""
        deadline = time.monotonic() + START_S
        pattern = f"transcripts/*/*mine*/attempt-{attempt}/stdout.jsonl"
        while command.poll() is None and time.monotonic() < deadline:
            if any(path.read_text() for path in (self.folder / out).glob(pattern)):
                [*_, entry] = self.events(out, '"entry.running"')
                return json.dumps(entry).partition('"node": "')[2].partition('"')[0]
            time.sleep(0.2)
        command.kill()
        raise AssertionError(command.communicate()[0])


def ended(command: subprocess.Popen[str], code: int = 0) -> str:
    """What a command said, once it has ended."""
    said, _ = command.communicate(timeout=2 * START_S)
    assert command.returncode == code, said
    return said


def of(record: TournamentRecord, agent: str) -> Entry:
    """The entry of an agent in the last round."""
    [found] = [one for one in record.entries if one.agent.partition("=")[0] == agent]
    return found


@pytest.fixture
def tournaments(cluster: Any, tmp_path: Path) -> Tournaments:
    return Tournaments(cluster, tmp_path)


def test_embedded_agents_play_on_all_nodes_and_the_record_is_the_local_one(
    tournaments: Tournaments,
) -> None:
    agents = ("--agent", "baseline", "--agent", "baseline:two", "--agent", "cheater")
    here = tournaments.run("here", *agents, executor="local")
    there = tournaments.run("there", *agents, "--jobs", "3")
    assert canonical_records(there) == canonical_records(here)
    assert {entry.played_on for entry in here.entries} == {""}
    assert len({entry.played_on for entry in there.entries} - {""}) == 2
    assert all(entry.played_on and entry.attempts == 1 for entry in there.entries)


def test_a_command_line_agent_has_its_model_and_its_checks_on_a_node_and_no_secret(
    tournaments: Tournaments,
) -> None:
    ports = [int(tournaments.cluster.address.rpartition(":")[2])]
    agent = tournaments.agent(CURIOUS.replace("PORTS", repr(ports)))
    with ModelServer(says("hello", "anthropic")) as model:
        tournaments.environ["ANTHROPIC_API_KEY"] = KEY
        options = ("mine.provider=anthropic", f"mine.upstream={model.url('anthropic')}")
        words = [word for option in options for word in ("--agent-option", option)]
        record = tournaments.run("out", "--agent", agent, *words)
    entry = of(record, "mine")
    assert (entry.ended, entry.note, entry.attempts) == (PlayEnding.FINISHED, "", 1)
    assert entry.played_on
    assert entry.fitness > 0
    assert entry.usage.checks == 1
    assert (entry.usage.input_tokens, entry.usage.output_tokens) == (100, 50)
    assert entry.usage.cost_usd > 0
    assert [request.headers["x-api-key"] for request in model.requests] == [KEY]
    [transcript] = (tournaments.folder / "out" / "transcripts" / "0001").glob("*mine*/attempt-1")
    said = (transcript / "stdout.jsonl").read_text()
    assert "fitness 0" in said
    assert "hello" in said
    assert (transcript / "costs.jsonl").read_text()
    seen = json.loads(said.partition("SEEN ")[2].splitlines()[0])
    assert seen["ANTHROPIC_API_KEY"] != KEY
    assert KEY not in said
    assert (tournaments.folder / "out" / "secret").read_bytes().hex() not in said
    assert not any(seen[name] for name in ("/tmp/ray?", "/dev/shm?", "/var/tmp?"))
    assert all(seen[f"port {port}"] for port in ports), "Ray can be reached from an agent"
    assert "RAY_" not in said


def test_a_turn_that_is_lost_with_its_node_is_played_again_on_another(
    tournaments: Tournaments,
) -> None:
    patiently(lambda: tournaments.cluster.add_node(num_cpus=1))  # for the one that is killed
    agent = tournaments.agent(WAITS.replace("SECONDS", "20"))
    fixed = ("--option", "size=demo", "--seed", "3", "--rounds", "1", "--out", "out")
    command = tournaments.start("run", "lengths", *fixed, "--agent", agent)
    node = tournaments.wait_at_work("out", command)
    nodes = tournaments.cluster.list_all_nodes()
    [victim] = [one for one in nodes if one.node_id.startswith(node.rpartition("/")[2])]
    [raylet] = victim.all_processes["raylet"]
    os.kill(raylet.process.pid, signal.SIGSTOP)
    for pid in (*children(raylet.process.pid), raylet.process.pid):
        os.kill(pid, signal.SIGKILL)
    ended(command)
    entry = of(read_record(tournaments.folder / "out"), "mine")
    assert entry.lost_on == (node,)  # before Ray knows that it is dead, it is not taken again
    assert entry.attempts == 2
    assert entry.played_on not in ("", node)
    assert entry.state is EntryState.COMMITTED
    assert entry.fitness > 0
    assert len(tournaments.events("out", '"lost"')) == 1
    assert len(tournaments.events("out", '"entry.frozen"')) == len(
        read_record(tournaments.folder / "out").entries
    )


@pytest.mark.parametrize("way", [signal.SIGKILL, signal.SIGINT])
def test_a_driver_that_ends_leaves_no_process_and_plays_no_finished_turn_again(
    tournaments: Tournaments, way: signal.Signals
) -> None:
    mark = f"{3600 + os.getpid() % 1000}.{int(way)}"
    agent = tournaments.agent(WAITS.replace("SECONDS", f"{mark} if not FAST else 0"))
    script = tournaments.folder / "mine.py"
    slow = script.read_text()
    script.write_text(f"FAST = False\n{slow}")
    fixed = ("--option", "size=demo", "--seed", "3", "--rounds", "1", "--out", "out")
    agents = ("--agent", "baseline", "--agent", agent, "--jobs", "1")
    command = tournaments.start("run", "lengths", *fixed, *agents)
    tournaments.wait_at_work("out", command)
    assert processes_of(str(script))
    command.send_signal(way)
    said, _ = command.communicate(timeout=START_S)
    assert command.returncode == (130 if way == signal.SIGINT else -9), said
    deadline = time.monotonic() + START_S
    while processes_of(str(script)) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert not processes_of(str(script))
    script.write_text(f"FAST = True\n{slow}")
    ended(tournaments.start("resume", "out"))
    record = read_record(tournaments.folder / "out")
    assert of(record, "mine").attempts == 2
    assert of(record, "mine").fitness > 0
    assert {entry.attempts for entry in record.entries if "=" not in entry.agent} == {1}


def test_a_node_without_the_program_gets_no_turn_and_none_is_spent_where_no_node_has_it(
    tournaments: Tournaments,
) -> None:
    tool = tournaments.folder / "tools" / "climber"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\nsed -i s/0/42/ solution.py\n")
    tool.chmod(0o755)
    known = tournaments.environ["PATH"]
    tournaments.environ["PATH"] = f"{tool.parent}:{known}"
    fixed = ("--option", "size=demo", "--seed", "3", "--rounds", "1", "--agent", "mine=climber")
    refused = ended(tournaments.start("run", "lengths", *fixed, "--out", "no"), code=3)
    said = " ".join(refused.split())
    assert "no node can run mine" in said
    assert "there is no climber on the PATH" in said
    assert not tournaments.events("no", '"entry.')
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", tournaments.environ["PATH"])
        able = patiently(lambda: tournaments.cluster.add_node(num_cpus=1))
    said = ended(tournaments.start("run", "lengths", *fixed, "--out", "out"))
    assert "is given no turns of mine" in said
    entry = of(read_record(tournaments.folder / "out"), "mine")
    assert entry.played_on.rpartition("/")[2] == able.node_id[:8]
    tournaments.cluster.remove_node(able)


def processes_of(word: str) -> list[int]:
    """Processes of this machine whose command line names something."""
    found: list[int] = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes().decode(errors="replace")
        except OSError:
            continue
        if word in line and "tournament" not in line:
            found.append(int(path.parent.name))
    return found
