"""What runs cost: never more than the budget, whoever is killed when."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unhack_contests.scaling.trained.service.training_service import (
    BudgetSpentError,
    Meter,
    open_meter,
)

_DIES = """
import os, signal, sys
from pathlib import Path
from unhack_contests.scaling.trained.service.training_service import open_meter
with open_meter(Path(sys.argv[1]), budget=100) as meter:
    meter.charge("first", 40)
    meter.charge("second", 30)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def killed_after_two_charges(path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", _DIES, str(path)], check=False)
    assert done.returncode == -signal.SIGKILL


@pytest.mark.slow
@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(1, 60))))
def test_no_split_and_no_name_buys_more_than_the_budget(asked: list[tuple[str, int]]) -> None:
    meter, paid = Meter(100), 0
    for key, flops in asked:
        try:
            meter.charge(key, flops)
        except BudgetSpentError:
            assert paid + flops > 100
        else:
            paid += flops
    assert meter.spent == paid <= 100


def test_a_run_that_is_asked_for_twice_is_paid_twice(tmp_path: Path) -> None:
    with open_meter(tmp_path / "m", budget=100) as meter:
        meter.charge("a", 40)
        meter.charge("a", 40)
        with pytest.raises(BudgetSpentError, match="are left"):
            meter.charge("a", 40)
        assert (meter.spent, meter.charges) == (80, 2)


def test_what_a_killed_judge_has_charged_is_not_charged_again(tmp_path: Path) -> None:
    killed_after_two_charges(tmp_path / "m")
    with open_meter(tmp_path / "m", budget=100) as meter:
        meter.charge("first", 40)
        meter.charge("second", 30)
        meter.charge("third", 30)
        with pytest.raises(BudgetSpentError):
            meter.charge("first", 40)
        assert meter.spent == 100


def test_who_asks_otherwise_after_a_kill_still_pays_for_what_was_bought(tmp_path: Path) -> None:
    killed_after_two_charges(tmp_path / "m")
    with open_meter(tmp_path / "m", budget=100) as meter:
        meter.charge("another", 30)
        with pytest.raises(BudgetSpentError):
            meter.charge("one more", 1)


def test_a_charge_that_a_kill_cut_in_half_is_none(tmp_path: Path) -> None:
    (tmp_path / "m").write_bytes(b'["first", 40]\n["seco')
    with open_meter(tmp_path / "m", budget=100) as meter:
        meter.charge("third", 60)
        with pytest.raises(BudgetSpentError):
            meter.charge("second", 30)


def test_a_dialogue_that_ended_leaves_no_meter(tmp_path: Path) -> None:
    with open_meter(tmp_path / "m", budget=100) as meter:
        meter.charge("a", 100)
    assert not (tmp_path / "m").exists()
    with open_meter(tmp_path / "m", budget=100) as meter:
        meter.charge("a", 100)


def test_a_failure_of_the_machine_keeps_the_meter(tmp_path: Path) -> None:
    def fails() -> None:
        with open_meter(tmp_path / "m", budget=100) as meter:
            meter.charge("a", 60)
            raise OSError("the card is gone")

    with pytest.raises(OSError, match="card"):
        fails()
    with open_meter(tmp_path / "m", budget=100) as meter:
        meter.charge("a", 60)
        with pytest.raises(BudgetSpentError):
            meter.charge("b", 60)


def test_two_dialogues_of_one_submission_wait_for_each_other(tmp_path: Path) -> None:
    inside: list[int] = []
    most: list[int] = []

    def talk() -> None:
        with open_meter(tmp_path / "m", budget=100) as meter:
            inside.append(1)
            most.append(len(inside))
            meter.charge("a", 100)
            inside.pop()

    threads = [threading.Thread(target=talk) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1] * 8
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("look", [1, 2])
def test_a_meter_that_is_removed_while_another_dialogue_looks_at_it_is_made_anew(
    look: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, stat, looks = tmp_path / "m", Path.stat, iter(range(1, 100))

    def removed_first(self: Path, **options: bool) -> os.stat_result:
        if self == path and next(looks) == look:
            self.unlink()
        return stat(self, **options)

    monkeypatch.setattr(Path, "stat", removed_first)
    with open_meter(path, budget=100) as meter:
        meter.charge("a", 100)
    assert os.listdir(tmp_path) == []
