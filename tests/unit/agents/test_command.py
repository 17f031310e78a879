"""Any command line at work: checks, limits, clocks, what comes back, and what is refused."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from unhack.agents.adapter import fill
from unhack.agents.command_line import host_files
from unhack.agents.options import read_options
from unhack.agents.play import Assignment, HandedIn, Play, PlayEnding
from unhack.agents.registry import ADAPTERS, COMMAND_AGENTS, make_command_agent
from unhack.core.errors import UnknownNameError, UsageError

sys.path.insert(0, str(Path(__file__).parents[2] / "smoke"))
import scripted_models as models

pytestmark = pytest.mark.slow


class Hand:
    """A clock that a test turns."""

    now = 0.0

    def elapsed_s(self) -> float:
        return self.now


def assignment_in(folder: Path, **changes: Any) -> Assignment:
    """An assignment with a workspace in a fresh folder; its fields may be changed."""
    for name in ("workspace", "transcript"):
        (folder / name).mkdir(parents=True)
    (folder / "workspace" / "solution.py").write_text("x = 0\n")
    values: dict[str, Any] = {
        "prompt": "Write a number; ask unhack-check what it is worth.",
        "workspace": folder / "workspace",
        "handed_in": HandedIn(
            ("solution.py", "extra/*.txt", "EXCUSE"),
            ("solution.py",),
            "EXCUSE",
            max_files=96,
            max_bytes=1 << 20,
        ),
        "check": lambda files: {"valid": True, "text": f"{len(files)} files"},
        "time_limit_s": 120.0,
        "cost_limit_usd": 1.0,
        "transcript": folder / "transcript",
        **changes,
    }
    return Assignment(**values)


def played(
    folder: Path, line: str, *, options: dict[str, str] | None = None, **changes: Any
) -> tuple[Play, Assignment]:
    """The attempt of a shell script."""
    script = folder / "agent.sh"
    script.write_text(line)
    script.chmod(0o644)
    assignment = assignment_in(folder / "seat", **changes)
    agent = make_command_agent(f"mine=/bin/sh {script} {{prompt}}", options=options or {})
    return agent.play(assignment), assignment


@pytest.mark.slow
def test_a_command_hands_in_what_it_leaves(tmp_path: Path) -> None:
    line = "echo 'x = 3' > solution.py; mkdir extra; echo a > extra/a.txt; echo b > other; echo $1"
    play, given = played(tmp_path, line)
    assert (play.ended, play.note) == (PlayEnding.FINISHED, "")
    left = {p.relative_to(given.workspace).as_posix() for p in given.workspace.rglob("*")}
    assert left == {"solution.py", "extra", "extra/a.txt"}
    assert "unhack-check" in (given.transcript / "stdout.jsonl").read_text()


@pytest.mark.slow
def test_the_numerical_packages_are_those_of_the_judge(tmp_path: Path) -> None:
    line = "python3 -c 'import numpy; print(numpy.__version__)'; python3 -c 'import unhack'"
    _, given = played(tmp_path, line)
    import numpy

    assert (given.transcript / "stdout.jsonl").read_text().strip() == numpy.__version__
    assert "No module named 'unhack'" in (given.transcript / "stderr.txt").read_text()


@pytest.mark.slow
def test_an_excuse_stands_for_what_is_required(tmp_path: Path) -> None:
    play, given = played(tmp_path, "rm solution.py; echo beyond reach > EXCUSE")
    assert (play.ended, play.note) == (PlayEnding.FINISHED, "")
    assert [path.name for path in given.workspace.iterdir()] == ["EXCUSE"]


@pytest.mark.slow
def test_a_check_is_answered_from_the_files_as_they_stand(tmp_path: Path) -> None:
    line = "unhack-check; mkdir extra; echo a > extra/a.txt; unhack-check; unhack-check --json"
    play, given = played(tmp_path, line)
    said = (given.transcript / "stdout.jsonl").read_text().splitlines()
    assert said == ["1 files", "2 files", '{"valid": true, "text": "2 files"}']
    assert play.usage.checks == 3


@pytest.mark.slow
def test_a_limit_of_time_takes_what_is_there(tmp_path: Path) -> None:
    clock = Hand()

    def check(files: Any) -> dict[str, Any]:
        clock.now = 200.0
        return {"valid": True}

    line = "echo 'x = 9' > solution.py; unhack-check; sleep 600"
    play, given = played(tmp_path, line, check=check, start_clock=lambda: clock)
    assert play.ended is PlayEnding.TIME
    assert (given.workspace / "solution.py").read_text() == "x = 9\n"
    assert play.usage.seconds == 200.0


@pytest.mark.slow
def test_a_failure_is_told_with_its_last_words(tmp_path: Path) -> None:
    play, _ = played(tmp_path, "echo out of ideas >&2; exit 3")
    assert play.ended is PlayEnding.FAILED
    assert "ended with code 3: out of ideas" in play.note


@pytest.mark.slow
def test_a_link_or_nothing_is_no_submission(tmp_path: Path) -> None:
    play, given = played(tmp_path, "ln -sf /etc/passwd solution.py")
    assert "no regular file solution.py" in play.note
    assert list(given.workspace.iterdir()) == []


@pytest.mark.slow
def test_a_model_of_a_provider_answers_through_the_proxy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "real-key")
    code = (
        "import json, os, urllib.request as u\n"
        "r = u.Request(os.environ['OPENAI_BASE_URL'] + '/responses', data=json.dumps("
        "{'model': 'gpt-5.2', 'stream': True}).encode(), headers={'content-type': "
        "'application/json', 'authorization': 'Bearer ' + os.environ['OPENAI_API_KEY']})\n"
        "print(u.urlopen(r).read().decode())\n"
    )
    script = models.Script(["done"])
    with models.playing(script) as url:
        options = {"provider": "openai", "key_env": "MY_KEY", "mine.upstream": url}
        play, given = played(tmp_path, f'env; python3 -c "{code}"', options=options)
    assert play.ended is PlayEnding.FINISHED, play
    assert (play.usage.input_tokens, play.usage.output_tokens) == (models.INPUT, models.OUTPUT)
    assert script.keys == ["real-key"]
    assert "real-key" not in (given.transcript / "stdout.jsonl").read_text()
    assert (given.transcript / "usage.json").exists()


def test_every_known_agent_has_a_line_and_an_adapter() -> None:
    assert set(ADAPTERS) == {"claude", "codex", "agent", "gemini", "opencode", "qwen"}
    assert set(ADAPTERS) <= set(COMMAND_AGENTS)
    assert all(line and "\n" not in line for line in COMMAND_AGENTS.values())


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("nobody", {}, "unknown agent"),
        ("claude", {"path": "/no/such/claude"}, "there is no /no/such/claude"),
        ("claude", {"path": "/bin/sh"}, "needs a key"),
        ("agent", {"path": "/bin/sh"}, "key_inside=yes"),
        ("mine=/bin/sh", {"modle": "x"}, "did you mean model"),
        ("mine=/bin/sh", {"provider": "nobody"}, "unknown provider"),
        ("mine=/bin/sh", {"events": "nothing"}, "unknown format"),
        ("mine=/bin/sh", {"memory_mib": "much"}, "whole number"),
        ("mine=/bin/sh", {"binds": "/no/such/place"}, "binds"),
        ("mine=/bin/sh", {"prices": "/no/such/file"}, "price table"),
        ("command:", {}, "unknown agent"),
        ("command:'", {}, "no command line"),
    ],
)
def test_what_cannot_play_is_refused_before_the_start(
    name: str, options: dict[str, str], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    with pytest.raises((UsageError, UnknownNameError), match=words):
        make_command_agent(name, options=options)


def test_an_option_of_one_agent_comes_before_that_of_all() -> None:
    pairs = {"model": "a", "claude.model": "b", "codex.cpus": "3", "env.A": "1", "cpus": "2"}
    claude, codex = read_options(pairs, name="claude"), read_options(pairs, name="codex")
    assert (claude.model, claude.cpus, claude.environ) == ("b", 2, {"A": "1"})
    assert (codex.model, codex.cpus) == ("a", 3)


def test_filling_in_replaces_names_once_and_leaves_other_braces() -> None:
    values = {"url": "{token}", "token": "t"}
    assert fill('{"a": {url}, {token}, {other}}', values) == '{"a": {token}, t, {other}}'


def test_a_program_of_npm_brings_its_modules_and_its_interpreter(tmp_path: Path) -> None:
    program = tmp_path / "lib" / "node_modules" / "@maker" / "tool" / "cli.js"
    program.parent.mkdir(parents=True)
    program.write_text("#!/usr/bin/env sh\n")
    program.chmod(0o755)
    link = tmp_path / "tool"
    link.symlink_to(program)
    found = host_files.find_program((str(link),), install="")
    modules = str(tmp_path / "lib" / "node_modules")
    assert found.program == "/opt/agent/node_modules/@maker/tool/cli.js"
    assert found.binds == ((modules, "/opt/agent/node_modules"),)


@pytest.mark.slow
def test_this_package_is_not_among_what_agents_see() -> None:
    binds = host_files.package_binds()
    assert any(target.endswith("/numpy") for _, target in binds)
    assert not any("unhack" in Path(target).name for _, target in binds)


@pytest.mark.slow
def test_a_python_that_is_no_part_of_the_system_is_played_by_the_judge_s(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shims = tmp_path / "shims"
    shims.mkdir()
    for name in ("python3", "python3.99", "tool"):
        (shims / name).write_text("#!/bin/sh\nexec pyenv-that-is-not-there\n")
        (shims / name).chmod(0o755)
    (tmp_path / "agent.py").write_text("open('solution.py', 'w').write('x = 4')\nimport unhack\n")
    monkeypatch.setenv("PATH", f"{shims}:/usr/bin:/bin")
    monkeypatch.chdir(tmp_path)
    given = assignment_in(tmp_path / "seat")
    play = make_command_agent("mine=python3 agent.py {prompt}").play(given)
    assert (given.workspace / "solution.py").read_text() == "x = 4"
    assert play.ended is PlayEnding.FAILED
    assert "No module named 'unhack'" in play.note
    with pytest.raises(UsageError, match=r"write python3, or the path of a Python below /usr"):
        make_command_agent("mine=python3.99 agent.py")
    with pytest.raises(UsageError, match=r"is a shim of .*`pyenv which tool`"):
        make_command_agent("mine=tool")


def test_a_script_that_others_may_not_read_is_said_at_once(tmp_path: Path) -> None:
    script = tmp_path / "agent.py"
    script.write_text("")
    script.chmod(0o600)
    if os.geteuid() != 0:
        pytest.skip("an ordinary user's agents run as that user, who may read it")
    with pytest.raises(UsageError, match=r"chmod o\+r"):
        make_command_agent(f"mine=/usr/bin/env {script}")
