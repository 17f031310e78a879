"""Any command line at a seat: checks, limits, clocks, what comes back, and what is refused."""

from __future__ import annotations

import os
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from unhack.core.errors import UnknownNameError, UsageError
from unhack.tournament.agents import check
from unhack.tournament.agents.adapter import fill
from unhack.tournament.agents.agent import AgentUsage, Play, PlayEnding, Seat
from unhack.tournament.agents.command_line import surroundings
from unhack.tournament.agents.command_line.note import note_usage
from unhack.tournament.agents.command_line.prompt import prompt
from unhack.tournament.agents.options import read_options
from unhack.tournament.agents.registry import ADAPTERS, AGENTS, make_agent
from unhack.tournament.contest import DECLINED, Measurement, Terms, invalid
from unhack.tournament.judging.machine_lock import MACHINE
from unhack.tournament.round import metering

sys.path.insert(0, str(Path(__file__).parents[3] / "smoke"))
import scripted_models as models
from toy_contest import Toy, seat_in


def played(
    folder: Path, line: str, *, options: dict[str, str] | None = None, **changes: Any
) -> tuple[Play, Seat]:
    """A shell script's turn."""
    script = folder / "agent.sh"
    script.write_text(line)
    script.chmod(0o644)
    seat = seat_in(folder / "seat", **changes)
    agent = make_agent(f"mine=/bin/sh {script} {{prompt}}", Toy(), options=options or {})  # type: ignore[arg-type]
    return agent.play(seat), seat


def test_a_command_hands_in_what_it_leaves(tmp_path: Path) -> None:
    line = "echo 'x = 3' > solution.py; mkdir extra; echo a > extra/a.txt; echo b > other; echo $1"
    play, seat = played(tmp_path, line)
    assert (play.ended, play.note) == (PlayEnding.FINISHED, "")
    left = {p.relative_to(seat.workspace).as_posix() for p in seat.workspace.rglob("*")}
    assert left == {"solution.py", "extra", "extra/a.txt"}
    assert "unhack-check" in (seat.transcript / "stdout.jsonl").read_text()


def test_a_check_measures_the_files_as_they_stand(tmp_path: Path) -> None:
    line = "unhack-check; echo 'x = 3' > solution.py; unhack-check; echo x > solution.py; " \
           "unhack-check || echo invalid is $?"  # fmt: skip
    play, seat = played(tmp_path, line)
    said = (seat.transcript / "stdout.jsonl").read_text()
    assert play.usage.checks == 3
    assert "fitness 0 ± 0.1" in said
    assert "fitness 3 ± 0.1" in said
    assert "not valid: there is no number" in said
    assert "invalid is 1" in said


def test_the_numerical_packages_are_those_of_the_judge(tmp_path: Path) -> None:
    line = "python3 -c 'import numpy; print(numpy.__version__)'; python3 -c 'import unhack'"
    _, seat = played(tmp_path, line)
    import numpy

    assert (seat.transcript / "stdout.jsonl").read_text().strip() == numpy.__version__
    assert "No module named 'unhack'" in (seat.transcript / "stderr.txt").read_text()


def test_a_limit_of_time_takes_what_is_there(tmp_path: Path) -> None:
    play, seat = played(tmp_path, "echo 'x = 9' > solution.py; sleep 600", time_limit_s=1.5)
    assert play.ended is PlayEnding.TIME
    assert (seat.workspace / "solution.py").read_text() == "x = 9\n"
    assert 1.5 <= play.usage.seconds < 30


def test_a_failure_is_told_with_its_last_words(tmp_path: Path) -> None:
    play, _ = played(tmp_path, "echo out of ideas >&2; exit 3")
    assert play.ended is PlayEnding.FAILED
    assert "ended with code 3: out of ideas" in play.note


def test_a_link_or_nothing_is_no_submission(tmp_path: Path) -> None:
    play, seat = played(tmp_path, "ln -sf /etc/passwd solution.py")
    assert "no regular file solution.py" in play.note
    assert list(seat.workspace.iterdir()) == []


def test_an_answer_of_no_improvement_comes_back(tmp_path: Path) -> None:
    play, seat = played(tmp_path, f"rm solution.py; echo beyond the bound > {DECLINED}")
    assert (play.ended, play.note) == (PlayEnding.FINISHED, "")
    assert [path.name for path in seat.workspace.iterdir()] == [DECLINED]


def test_its_clock_and_its_processes_stand_still_while_somebody_measures(tmp_path: Path) -> None:
    result: list[Any] = []
    line = "for i in 1 2 3 4 5 6 7 8 9 10; do echo $i; sleep 0.1; done"
    thread = threading.Thread(target=lambda: result.append(played(tmp_path, line)))
    thread.start()
    path = tmp_path / "seat" / "transcript" / "stdout.jsonl"
    deadline = time.monotonic() + 30
    while not (path.exists() and path.read_text()) and time.monotonic() < deadline:
        time.sleep(0.01)
    started = time.monotonic()
    with MACHINE.alone():
        time.sleep(0.2)  # what was written before reaches the disk
        before = path.read_text()
        time.sleep(1.5)
        assert path.read_text() == before
        stopped = time.monotonic() - started
    thread.join()
    [(play, _)] = result
    assert play.ended is PlayEnding.FINISHED
    assert path.read_text().split()[-1] == "10"
    assert stopped > 1.5
    assert play.usage.seconds < time.monotonic() - started + 30 - 1.5


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
        play, seat = played(tmp_path, f'env; python3 -c "{code}"', options=options)
    assert play.ended is PlayEnding.FINISHED, play
    assert (play.usage.input_tokens, play.usage.output_tokens) == (models.INPUT, models.OUTPUT)
    assert script.keys == ["real-key"]
    assert "real-key" not in (seat.transcript / "stdout.jsonl").read_text()
    assert (seat.transcript / "usage.json").exists()


def test_the_rounds_can_read_what_a_seat_has_cost(tmp_path: Path) -> None:
    usage = AgentUsage(turns=2, input_tokens=3, output_tokens=4, tool_calls=5, cost_usd=0.25)
    note_usage(tmp_path, usage)
    assert metering.read_meter(tmp_path / "none", tmp_path) == usage


def test_every_known_agent_has_a_line_and_an_adapter() -> None:
    assert set(ADAPTERS) == {"claude", "codex", "agent", "gemini", "opencode", "qwen"}
    assert set(ADAPTERS) <= set(AGENTS)
    assert all(line and "\n" not in line for line in AGENTS.values())


def test_an_embedded_agent_needs_nothing() -> None:
    assert make_agent("baseline", Toy()).name == "baseline"  # type: ignore[arg-type]


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
        make_agent(name, Toy(), options=options)  # type: ignore[arg-type]


def test_an_option_of_one_agent_comes_before_that_of_all() -> None:
    pairs = {"model": "a", "claude.model": "b", "codex.cpus": "3", "env.A": "1", "cpus": "2"}
    claude, codex = read_options(pairs, name="claude"), read_options(pairs, name="codex")
    assert (claude.model, claude.cpus, claude.environ) == ("b", 2, {"A": "1"})
    assert (codex.model, codex.cpus) == ("a", 3)


def test_filling_in_replaces_names_once_and_leaves_other_braces() -> None:
    values = {"url": "{token}", "token": "t"}
    assert fill('{"a": {url}, {token}, {other}}', values) == '{"a": {token}, t, {other}}'


def test_the_prompt_names_files_limits_and_the_way_to_decline(tmp_path: Path) -> None:
    seat = replace(seat_in(tmp_path), terms=Terms(2, champion_fitness=1.25))
    text = prompt(seat)
    for part in ("Round 2", "solution.py", "extra/*.txt", "2 minutes", "1 dollars", DECLINED,
                 "1.25", "unhack-check"):  # fmt: skip
        assert part in text
    free = prompt(replace(seat, cost_limit_usd=0.0))
    assert "dollars" not in free


@pytest.mark.parametrize(
    ("value", "noise", "expected"),
    [(1.23456, 0.04, 1.23), (1.23456, 0.5, 1.2), (123.456, 20.0, 120.0), (1.23456, 0.0, 1.23),
     (float("nan"), 0.1, 0.0)],
)  # fmt: skip
def test_a_check_tells_no_more_digits_than_its_noise_leaves(
    value: float, noise: float, expected: float
) -> None:
    assert check.rounded(value, noise) == expected


def test_a_check_tells_no_flags() -> None:
    from unhack.tournament.contest import Flag

    flagged = Measurement(1.0, 0.9, 1.1, flags=(Flag("honeypot", "evidence", "judge"),))
    assert "honeypot" not in str(check.measurement_fields(flagged))
    assert check.measurement_fields(invalid("too slow"))["text"] == "not valid: too slow"


def test_a_program_of_npm_brings_its_modules_and_its_interpreter(tmp_path: Path) -> None:
    program = tmp_path / "lib" / "node_modules" / "@maker" / "tool" / "cli.js"
    program.parent.mkdir(parents=True)
    program.write_text("#!/usr/bin/env sh\n")
    program.chmod(0o755)
    link = tmp_path / "tool"
    link.symlink_to(program)
    found = surroundings.find_program((str(link),), install="")
    modules = str(tmp_path / "lib" / "node_modules")
    assert found.program == "/opt/agent/node_modules/@maker/tool/cli.js"
    assert found.binds == ((modules, "/opt/agent/node_modules"),)


def test_this_package_is_not_among_what_agents_see() -> None:
    binds = surroundings.package_binds()
    assert any(target.endswith("/numpy") for _, target in binds)
    assert not any("unhack" in Path(target).name for _, target in binds)


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
    seat = seat_in(tmp_path / "seat")
    play = make_agent("mine=python3 agent.py {prompt}", Toy()).play(seat)  # type: ignore[arg-type]
    assert (seat.workspace / "solution.py").read_text() == "x = 4"
    assert play.ended is PlayEnding.FAILED
    assert "No module named 'unhack'" in play.note
    with pytest.raises(UsageError, match=r"write python3, or the path of a Python below /usr"):
        make_agent("mine=python3.99 agent.py", Toy())  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=r"is a shim of .*`pyenv which tool`"):
        make_agent("mine=tool", Toy())  # type: ignore[arg-type]


def test_a_script_that_others_may_not_read_is_said_at_once(tmp_path: Path) -> None:
    script = tmp_path / "agent.py"
    script.write_text("")
    script.chmod(0o600)
    if os.geteuid() == 0:
        with pytest.raises(UsageError, match=r"chmod o\+r"):
            make_agent(f"mine=/usr/bin/env {script}", Toy())  # type: ignore[arg-type]
