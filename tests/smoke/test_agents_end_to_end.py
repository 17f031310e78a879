"""The real command lines of two agents, from npm, against a scripted provider on loopback; and
Cursor's, which is not on npm, by a program that replays its events.

Walls, proxy, limits and transcripts are those of a tournament; only the model is a script.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import stat
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import scripted_models as models
from toy_contest import Toy, inputs_in

from unhack.agents.play import Play, PlayEnding
from unhack.sandbox.linux.processes import command_lines
from unhack.tournament.players import command_player
from unhack.tournament.players.player import TurnInputs
from unhack.tournament.players.registry import make_player

pytestmark = pytest.mark.slow

PACKAGES = {"claude": "@anthropic-ai/claude-code@2.1.197", "codex": "@openai/codex@0.169.0"}
MODELS = {"claude": "claude-sonnet-4-5", "codex": "gpt-5.2"}
PRICE = {"claude": (3.0 * models.INPUT + 15.0 * models.OUTPUT) / 1e6,
         "codex": (1.75 * models.INPUT + 14.0 * models.OUTPUT) / 1e6}  # fmt: skip
LONG = 10_000
"""Tokens of a long answer."""
LONG_PRICE = {"claude": (3.0 * models.INPUT + 15.0 * LONG) / 1e6,
              "codex": (1.75 * models.INPUT + 14.0 * LONG) / 1e6}  # fmt: skip
COST_LIMIT_USD = 2.0
CACHE = Path(__file__).resolve().parents[2] / ".venv" / "agent-clis"
WORK = (
    "$ echo 'x = 42' > solution.py; mkdir -p extra; env > extra/env.txt; "
    "cat /proc/[0-9]*/environ | tr '\\0' '\\n' >> extra/env.txt; ls /work /root/.ssh /home "
    "> extra/seen.txt 2>&1; unhack-check > extra/check.txt; "
    "python3 -I -c \"import socket; socket.create_connection(('{host}', {port}), 3)\" "
    "2>&1 | tail -1 > extra/net.txt"
)


@pytest.fixture(scope="session")
def programs() -> Mapping[str, Path]:
    """The two agents, installed once below `.venv` by one worker while the others wait."""
    found = {name: CACHE / "node_modules" / ".bin" / name for name in PACKAGES}
    with CACHE.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not all(map(_starts, found.values())):
            _install()
    broken = [name for name, path in found.items() if not _starts(path)]
    if broken:  # npm is content without the optional package that holds it
        pytest.skip(f"npm has no program for this platform of {', '.join(broken)}")
    return found


def _install() -> None:
    npm, node = shutil.which("npm"), shutil.which("node")
    if npm is None or node is None:
        pytest.skip("npm and node are not installed")
    shutil.rmtree(CACHE, ignore_errors=True)
    CACHE.mkdir(parents=True)
    command = [npm, "install", "--prefix", ".", "--no-fund", "--no-audit", *PACKAGES.values()]
    done = subprocess.run(
        command, cwd=CACHE, capture_output=True, text=True, timeout=900, check=False
    )
    if done.returncode:
        pytest.skip(f"npm cannot install the agents here: {done.stderr[-300:]}")


def _starts(program: Path) -> bool:
    try:
        command = [program, "--version"]
        return not subprocess.run(command, capture_output=True, timeout=60, check=False).returncode
    except (OSError, subprocess.TimeoutExpired):
        return False


@dataclass
class Table:
    """One agent with a script for its model."""

    name: str
    program: Path
    folder: Path
    monkeypatch: pytest.MonkeyPatch
    inputs: TurnInputs | None = None

    def play(self, script: models.Script, **changes: Any) -> Play:
        """Its turn; the real key stands in this process's environment only."""
        for variable in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY"):
            self.monkeypatch.setenv(variable, "real-key")
        with models.playing(script) as url:
            options = {"upstream": url, "path": str(self.program), "model": MODELS[self.name]}
            agent = make_player(self.name, Toy(), options=options)  # type: ignore[arg-type]
            self.inputs = inputs_in(self.folder / "turn", **{"time_limit_s": 900.0, **changes})
            return agent.play(self.inputs)

    def left(self, name: str) -> str:
        """A file of the submission."""
        assert self.inputs is not None
        return (self.inputs.workspace / name).read_text()


@pytest.fixture(params=list(PACKAGES))
def table(
    request: pytest.FixtureRequest,
    programs: Mapping[str, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Table:
    return Table(request.param, programs[request.param], tmp_path, monkeypatch)


class OverOnceAtWork:
    """A clock whose time is over once two processes sleep, or nothing is to be hoped for."""

    def __init__(self, mark: str, limit_s: float) -> None:
        self.mark, self.limit_s, self.over = mark, limit_s, False
        self.until = time.monotonic() + 600

    def elapsed_s(self) -> float:
        """See `AttemptClock`."""
        self.over = self.over or _sleeping(self.mark) == 2 or time.monotonic() > self.until
        return self.limit_s if self.over else 0.0


@pytest.mark.slow
class TestRealAgents:
    def test_a_turn_writes_a_file_and_is_metered(self, table: Table) -> None:
        script = models.Script(["$ echo 'x = 42' > solution.py", "All done."])
        play = table.play(script)
        assert (play.ended, play.note) == (PlayEnding.FINISHED, "")
        assert table.left("solution.py") == "x = 42\n"
        usage = play.usage
        assert (usage.input_tokens, usage.output_tokens) == (2 * models.INPUT, 2 * models.OUTPUT)
        assert usage.cost_usd == pytest.approx(2 * PRICE[table.name])
        assert usage.tool_calls == 1
        assert usage.turns >= 1
        assert usage.seconds > 0

    def test_the_key_stays_outside_and_the_host_out_of_sight(self, table: Table) -> None:
        with models.playing(models.Script([])) as other:
            host, _, port = other.removeprefix("http://").partition(":")
            step = WORK.replace("{host}", host).replace("{port}", port)
            script = models.Script([step, "All done."])
            play = table.play(script)
        assert play.ended is PlayEnding.FINISHED
        assert set(script.keys) == {"real-key"}
        seen = table.left("extra/env.txt")
        assert "real-key" not in seen
        assert "HOME=/home/agent" in seen
        assert "main" not in seen
        assert "main" not in table.left("extra/seen.txt")
        assert "refused" in table.left("extra/net.txt")
        assert table.left("extra/check.txt").startswith("fitness 42 ± 0.1")
        assert play.usage.checks == 1
        assert table.inputs is not None
        kept = "".join(
            path.read_text(errors="replace") for path in table.inputs.transcript.iterdir()
        )
        assert "real-key" not in kept
        assert "solution.py" in kept

    def test_the_time_limit_ends_every_process(
        self, table: Table, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        mark = f"31{os.getpid() % 100000}{len(table.name)}"
        step = f"$ (setsid sleep {mark} &) ; echo 'x = 7' > solution.py; sleep {mark}"
        monkeypatch.setattr(command_player, "Clock", lambda: OverOnceAtWork(mark, 6.0))
        play = table.play(models.Script([step]), time_limit_s=6.0)
        assert play.ended is PlayEnding.TIME
        assert table.left("solution.py") == "x = 7\n"
        assert play.usage.seconds >= 6
        deadline = time.monotonic() + 60
        while _sleeping(mark) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert _sleeping(mark) == 0
        assert table.inputs is not None
        events = (table.inputs.transcript / "stdout.jsonl").read_text().splitlines()
        assert len(events) >= 2
        assert all(json.loads(line) for line in events[:-1])

    def test_the_cost_limit_ends_it(self, table: Table) -> None:
        # A request goes out only while all that it may cost fits: answers are long here.
        table.monkeypatch.setattr(models, "OUTPUT", LONG)
        script = models.Script(["$ echo 'x = 1' > solution.py"])
        play = table.play(script, cost_limit_usd=COST_LIMIT_USD)
        assert play.ended is PlayEnding.COST
        assert play.usage.output_tokens == len(script.asked) * LONG
        assert 2 <= len(script.asked) <= COST_LIMIT_USD / LONG_PRICE[table.name]
        assert play.usage.cost_usd == pytest.approx(len(script.asked) * LONG_PRICE[table.name])
        assert play.usage.cost_usd <= COST_LIMIT_USD
        assert table.left("solution.py") == "x = 1\n"


def _sleeping(mark: str) -> int:
    return list(command_lines().values()).count(f"sleep\0{mark}\0".encode())


CURSOR = """#!/bin/sh
# Replays the events of Cursor's agent.
test "$1" = -p || exit 2
test "$CURSOR_API_KEY" = cursor-key || { echo 'no key' >&2; exit 1; }
echo '{"type":"system","subtype":"init","session_id":"s","model":"Composer"}'
echo '{"type":"user","message":{"role":"user","content":[{"type":"text","text":"go"}]}}'
echo '{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"a"}]}}'
echo '{"type":"tool_call","subtype":"started","call_id":"c","tool_call":{"shellToolCall":{}}}'
echo 'x = 5' > solution.py
unhack-check --json > check.json
echo '{"type":"tool_call","subtype":"completed","call_id":"c","tool_call":{"shellToolCall":{}}}'
echo '{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"b"}]}}'
echo '{"type":"result","subtype":"success","is_error":false,"duration_ms":9,"result":"done"}'
"""


def executable(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IRWXU | stat.S_IROTH | stat.S_IXOTH)
    return path


def test_cursor_plays_by_its_events(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CURSOR_API_KEY", "cursor-key")
    program = executable(tmp_path / "cursor-agent", CURSOR)
    options = {"agent.path": str(program), "agent.key_inside": "yes"}
    inputs = inputs_in(tmp_path / "turn")
    play = make_player("agent", Toy(), options=options).play(inputs)  # type: ignore[arg-type]
    assert (play.ended, play.note) == (PlayEnding.FINISHED, "")
    assert (play.usage.turns, play.usage.tool_calls, play.usage.checks) == (2, 1, 1)
    assert (inputs.workspace / "solution.py").read_text() == "x = 5\n"
    assert not (inputs.workspace / "check.json").exists()
