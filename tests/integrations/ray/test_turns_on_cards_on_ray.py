"""Turns of agents on nodes with cards: the card in their tree, one measurement of it at a time."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("torch")

from tests.unit.agents.model_server import KEY, ModelServer, says

from unhack.agents.play import PlayEnding
from unhack.tournament.record.archive import read_record
from unhack.tournament.record.entry_state import EntryState
from unhack.tournament.record.records import Entry, TournamentRecord
from unhack.tournament.review.canonical import canonical_records

from .card_cluster import CardsOnRay, assert_one_at_a_time, ended
from .host_cards import DEVICE, NAME, turns
from .test_turns_on_ray import CURIOUS

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
RUN = (
    "run", "kernels", "--option", "device=cuda", "--option", f"card={NAME}",
    "--option", "problem=softmax", "--rounds", "1", "--seed", "3",
)  # fmt: skip
TICKS = """
import subprocess, threading, time
def tick():
    while True:
        print("TICK", time.monotonic(), flush=True)
        time.sleep(0.02)
threading.Thread(target=tick, daemon=True).start()
time.sleep(20)  # until the other one has started too, on a slow machine
for _ in range(2):
    subprocess.run(["unhack-check"], check=True)
"""
ONCE = """
import subprocess, time
print("at work", flush=True)
time.sleep(20)
subprocess.run(["unhack-check"], check=True)
"""


def agent(folder: Path, text: str, name: str = "mine") -> str:
    """A Python program as an agent."""
    script = folder / f"{name}.py"
    script.write_text(text)
    script.chmod(0o644)
    folder.chmod(0o755)
    return f"{name}=/usr/bin/env python3 {script}"


def of(record: TournamentRecord, name: str) -> Entry:
    """The entry of an agent."""
    [found] = [one for one in record.entries if one.agent.partition("=")[0] == name]
    return found


def printed(out: Path, name: str) -> str:
    """All that an agent printed in its last attempt."""
    *_, last = sorted(out.glob(f"transcripts/0001/*{name}*/attempt-*"))
    return (last / "stdout.jsonl").read_text()


def test_agents_of_two_nodes_have_a_card_and_no_secret_and_the_record_is_the_local_one(
    cards: CardsOnRay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cards.add_node(cards=1)
    cards.add_node(cards=1)
    ports = [int(cards.cluster.address.rpartition(":")[2])]
    text = CURIOUS.replace("PORTS", repr(ports))
    agents = [agent(tmp_path, text, name) for name in ("mine", "other")]
    words = [word for one in ("baseline", *agents) for word in ("--agent", one)]
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    with ModelServer(says("hello", "anthropic")) as model:
        for name in ("mine", "other"):
            words += ["--agent-option", f"{name}.provider=anthropic"]
            words += ["--agent-option", f"{name}.upstream={model.url('anthropic')}"]
        for executor in ("local", "ray"):
            line = (*RUN, *words, "--jobs", "4", "--out", str(tmp_path / executor))
            ended(cards.command(*line, executor=executor))
    here, there = (read_record(tmp_path / name) for name in ("local", "ray"))
    assert canonical_records(there) == canonical_records(here)
    assert {entry.played_on for entry in here.entries} == {""}
    nodes = {entry.played_on.rpartition("/")[2] for entry in there.entries}
    assert nodes == {name[:8] for name in cards.nodes}
    assert_one_at_a_time(turns(cards.log))
    for executor, record in (("local", here), ("ray", there)):
        for name in ("mine", "other"):
            entry = of(record, name)
            assert (entry.ended, entry.note, entry.usage.checks) == (PlayEnding.FINISHED, "", 1)
            said = printed(tmp_path / executor, name)
            assert "fitness" in said, said[:2000]
            seen = json.loads(said.partition("SEEN ")[2].splitlines()[0])
            assert seen["/dev?"].count(Path(DEVICE).name) == 1, executor
            assert KEY not in said
            assert (tmp_path / executor / "secret").read_bytes().hex() not in said
            assert all(seen[f"port {port}"] for port in ports), "Ray can be reached from an agent"
            assert "RAY_" not in said
            assert "CUDA_VISIBLE_DEVICES" not in said


def test_agents_of_one_card_measure_one_at_a_time_and_stand_still_meanwhile(
    cards: CardsOnRay, tmp_path: Path
) -> None:
    cards.add_node(cards=1)
    agents = [agent(tmp_path, TICKS, name) for name in ("mine", "other")]
    words = [word for one in agents for word in ("--agent", one)]
    out = tmp_path / "out"
    ended(cards.command(*RUN, *words, "--jobs", "3", "--out", str(out)))
    record = read_record(out)
    assert {entry.played_on for entry in record.entries} == {of(record, "mine").played_on}
    found = turns(cards.log)
    assert_one_at_a_time(found)
    assert all(turn.end < float("inf") for turn in found)
    beside = 0
    for name in ("mine", "other"):
        assert of(record, name).usage.checks == 2
        lines = [line.split() for line in printed(out, name).splitlines()]
        ticks = [float(line[1]) for line in lines if line[:1] == ["TICK"]]
        within = [turn for turn in found if ticks[0] < turn.begin and turn.end < ticks[-1]]
        assert len(within) >= 1, "no measurement fell into its turn"
        beside += len(within)
        for turn in within:
            assert not any(turn.begin <= tick <= turn.end for tick in ticks)
    assert beside >= 4, "the agents did not play at the same time"


def test_a_turn_that_is_lost_with_the_node_of_its_card_is_played_on_another_card(
    cards: CardsOnRay, tmp_path: Path
) -> None:
    cards.add_node(cards=1)
    cards.add_node(cards=1)
    out = tmp_path / "out"
    words = ("--agent", agent(tmp_path, ONCE), "--jobs", "1", "--out", str(out))
    command = cards.command(*RUN, *words)
    node = cards.wait_at_work(out, command)
    [lost] = [name for name in cards.nodes if name.startswith(node.rpartition("/")[2])]
    cards.kill_node(lost)
    ended(command)
    entry = of(read_record(out), "mine")
    assert entry.lost_on == (node,)
    assert entry.attempts == 2
    assert entry.played_on not in ("", node)
    assert entry.state is EntryState.COMMITTED
    assert entry.usage.checks == 1
    assert_one_at_a_time(turns(cards.log))


def test_an_agent_is_told_of_a_ray_without_a_card_before_it_starts(
    cards: CardsOnRay, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    command = cards.command(*RUN, "--agent", agent(tmp_path, ONCE), "--out", str(out))
    said, _ = command.communicate(timeout=600)
    assert command.returncode == 3, said
    assert "no node of the Ray cluster offers a GPU" in " ".join(said.split())
    assert not out.exists()
