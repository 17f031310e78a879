"""Two processes with the real GRPOTrainer, gloo between them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def runs(model: Path, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """What each of the processes saw."""
    folder = tmp_path_factory.mktemp("runs")
    script = Path(__file__).with_name("two_processes.py")
    launch = ["-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2"]
    subprocess.run(
        [sys.executable, *launch, str(script), str(model), str(folder)], check=True, timeout=900
    )
    return [json.loads((folder / f"{rank}.json").read_text()) for rank in range(2)]


def test_groups_that_are_spread_over_processes_are_seen_whole(runs: list[dict[str, Any]]) -> None:
    assert runs
    for found in runs:
        spread = found["spread"]
        assert spread["step"] == 6
        assert spread["alarms"] == []
        assert spread["ours"] == pytest.approx(spread["trl"])
        assert spread["logged"] == pytest.approx(spread["trl"])
        assert 0.0 in spread["ours"]
        assert spread["our_rewards"] == pytest.approx(spread["rewards"])


def test_an_alarm_ends_both_processes_in_the_same_step(runs: list[dict[str, Any]]) -> None:
    assert runs
    for found in runs:
        assert found["flat"]["step"] == 5
        assert found["flat"]["trl"] == found["flat"]["ours"] == [1.0] * 5
        assert found["flat"]["alarms"] == ["step 4: hardly any group has a signal"]


def test_an_alarm_of_one_process_ends_both(runs: list[dict[str, Any]]) -> None:
    assert [found["one"]["step"] for found in runs] == [1, 1]


def test_a_failure_of_one_process_is_told_by_both(runs: list[dict[str, Any]]) -> None:
    assert runs[1]["failure"] == "no task for this row"
    assert runs[0]["failure"].startswith("process 1 could not judge its part: UsageError: no task")


def test_one_text_a_process_that_nobody_can_score_ends_the_first_step(
    runs: list[dict[str, Any]],
) -> None:
    said = [found["unscored"] for found in runs]
    assert all(one.startswith("none of the 2 completions of this call") for one in said)
    assert all("the grader cannot start" in one for one in said)
