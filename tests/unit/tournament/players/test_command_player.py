"""A command-line agent: what it is told, what a check tells it, and when it stands
still."""

from __future__ import annotations

import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from unhack.agents.command_line.transcript import note_usage
from unhack.agents.play import AgentUsage, Play, PlayEnding
from unhack.core.errors import UnknownNameError
from unhack.tournament.contest import DECLINED, Flag, Measurement, Terms, invalid
from unhack.tournament.judging.machine_lock import MACHINE
from unhack.tournament.players import command_player
from unhack.tournament.players.player import TurnInputs
from unhack.tournament.players.prompt import prompt
from unhack.tournament.players.registry import PLAYERS, make_player
from unhack.tournament.round import metering

sys.path.insert(0, str(Path(__file__).parents[3] / "smoke"))
from toy_contest import Toy, inputs_in


def played(
    folder: Path, line: str, *, options: dict[str, str] | None = None, **changes: Any
) -> tuple[Play, TurnInputs]:
    """A shell script's turn."""
    script = folder / "agent.sh"
    script.write_text(line)
    script.chmod(0o644)
    inputs = inputs_in(folder / "turn", **changes)
    agent = make_player(f"mine=/bin/sh {script} {{prompt}}", Toy(), options=options or {})  # type: ignore[arg-type]
    return agent.play(inputs), inputs


@pytest.mark.slow
def test_an_answer_of_no_improvement_comes_back(tmp_path: Path) -> None:
    play, inputs = played(tmp_path, f"rm solution.py; echo beyond the bound > {DECLINED}")
    assert (play.ended, play.note) == (PlayEnding.FINISHED, "")
    assert [path.name for path in inputs.workspace.iterdir()] == [DECLINED]


def test_an_embedded_agent_needs_nothing() -> None:
    assert make_player("baseline", Toy()).name == "baseline"  # type: ignore[arg-type]


def test_the_prompt_names_files_limits_and_the_way_to_decline(tmp_path: Path) -> None:
    inputs = replace(inputs_in(tmp_path), terms=Terms(2, champion_fitness=1.25))
    text = prompt(inputs)
    for part in ("Round 2", "solution.py", "extra/*.txt", "2 minutes", "1 dollars", DECLINED,
                 "1.25", "unhack-check"):  # fmt: skip
        assert part in text
    free = prompt(replace(inputs, cost_limit_usd=0.0))
    assert "dollars" not in free


def test_a_check_tells_no_flags() -> None:
    flagged = Measurement(1.0, 0.9, 1.1, flags=(Flag("honeypot", "evidence", "judge"),))
    assert "honeypot" not in str(command_player.measurement_fields(flagged))
    assert command_player.measurement_fields(invalid("too slow"))["text"] == "not valid: too slow"


@pytest.mark.slow
def test_its_clock_and_its_processes_stand_still_while_somebody_measures(tmp_path: Path) -> None:
    result: list[Any] = []
    over = threading.Event()

    def check(files: Any) -> Measurement:
        return invalid("over") if over.is_set() else Measurement(1.0, 0.9, 1.1)

    line = "i=0; until unhack-check | grep -q over; do i=$((i + 1)); echo $i; done; echo end"
    thread = threading.Thread(target=lambda: result.append(played(tmp_path, line, check=check)))
    begun = time.monotonic()
    thread.start()
    path = tmp_path / "turn" / "transcript" / "stdout.jsonl"
    deadline = time.monotonic() + 60
    while not (path.exists() and path.read_text()) and time.monotonic() < deadline:
        time.sleep(0.01)
    with MACHINE.alone():
        stopped = time.monotonic()
        before = ""
        while before != path.read_text():  # what was written before reaches the disk
            before = path.read_text()
            time.sleep(1.0)
        time.sleep(1.5)
        assert path.read_text() == before
        stopped = time.monotonic() - stopped
    over.set()
    thread.join()
    [(play, _)] = result
    assert play.ended is PlayEnding.FINISHED
    assert path.read_text().split()[-1] == "end"
    assert play.usage.seconds <= time.monotonic() - begun - stopped


def test_the_rounds_can_read_what_a_turn_has_cost(tmp_path: Path) -> None:
    usage = AgentUsage(turns=2, input_tokens=3, output_tokens=4, tool_calls=5, cost_usd=0.25)
    note_usage(tmp_path, usage)
    assert metering.read_meter(tmp_path / "none", tmp_path) == usage


@pytest.mark.slow
def test_a_check_measures_the_files_as_they_stand(tmp_path: Path) -> None:
    line = "unhack-check; echo 'x = 3' > solution.py; unhack-check; echo x > solution.py; " \
           "unhack-check || echo invalid is $?"  # fmt: skip
    play, inputs = played(tmp_path, line)
    said = (inputs.transcript / "stdout.jsonl").read_text()
    assert play.usage.checks == 3
    assert "fitness 0 ± 0.1" in said
    assert "fitness 3 ± 0.1" in said
    assert "not valid: there is no number" in said
    assert "invalid is 1" in said


@pytest.mark.parametrize(
    ("value", "noise", "expected"),
    [(1.23456, 0.04, 1.23), (1.23456, 0.5, 1.2), (123.456, 20.0, 120.0), (1.23456, 0.0, 1.23),
     (float("nan"), 0.1, 0.0)],
)  # fmt: skip
def test_a_check_tells_no_more_digits_than_its_noise_leaves(
    value: float, noise: float, expected: float
) -> None:
    assert command_player.rounded(value, noise) == expected


def test_an_unknown_name_is_answered_with_embedded_players_too() -> None:
    with pytest.raises(UnknownNameError, match="did you mean baseline"):
        make_player("baselin", Toy())  # type: ignore[arg-type]
    assert {"search", "claude"} <= set(PLAYERS)
